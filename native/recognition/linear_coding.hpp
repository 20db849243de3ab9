// Locality-constrained linear coding of descriptors, and the pooling of codes.
#pragma once

#include <cstdint>

namespace imtorque {

// For each of n descriptors x of `length` components, its nearest words and the weights, adding up to 1, with which
// these make x best: C c = 1, c / sum(c), with C = Z Z^T + beta trace(Z Z^T) I and Z the words minus x.
void linear_codes(const float* x, int n, int length, const float* words, int count, int neighbours, double beta,
                  int32_t* index, float* weight);

// pooled[cell][word] = the largest weight that any descriptor in the cell gives the word, at least 0. Descriptor i lies
// in the cells cell[i][0 ... levels - 1].
void max_pool(const int32_t* index, const float* weight, int n, int neighbours, const int32_t* cell, int levels,
              int words, int cells, float* pooled);

// Sums and counts of the descriptors nearest to each word: one step of k-means. Also each descriptor's word.
void sum_by_word(const float* x, int n, int length, const float* words, int count, double* sums, int64_t* counts,
                 int32_t* index);

}  // namespace imtorque
