// The last two steps of Canny's detector: edges connected to strong ones stay, stair corners go.
//
// Connection by trees of pixels: neighbours are united, the root of each tree learns whether a strong pixel is in it.
// Stair corners go in rounds, as native/edges/hysteresis.cpp has them: in each round the weakest of adjacent ones. The
// rounds run in one launch, whose blocks wait for each other (a cooperative launch).

// Paths are halved on the way. A link that another thread changes meanwhile goes to an ancestor as well, so that a lost
// change does no harm: who made it goes on to unite what it has replaced.
__device__ __forceinline__ int root_of(int* parent, int i) {
    int next = *(volatile int*)(parent + i);
    while (next != i) {
        const int above = *(volatile int*)(parent + next);
        if (above != next) *(volatile int*)(parent + i) = above;
        i = next;
        next = above;
    }
    return i;
}

// The lanes of a warp that have something to list take their places together.
__device__ __forceinline__ void append(bool yes, int what, int* list, int* count) {
    const unsigned active = __activemask(), all = __ballot_sync(active, yes);
    if (!yes) return;
    const int lane = threadIdx.x & 31, first = __ffs(all) - 1;
    int at = 0;
    if (lane == first) at = atomicAdd(count, __popc(all));
    at = __shfl_sync(all, at, first);
    list[at + __popc(all & ((1u << lane) - 1))] = what;
}

__device__ __forceinline__ void unite(int* parent, int a, int b) {
    for (;;) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b) return;
        if (a < b) {
            const int t = a;
            a = b;
            b = t;
        }
        const int old = atomicMin(parent + a, b);  // the smaller index is the root
        if (old == a) return;
        a = old;
    }
}

extern "C" __global__ void connect(int* parent, int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    const int i = (blockIdx.z * height + y) * width + x;
    if (parent[i] < 0) return;
    // Ridges are never on the border, so the neighbours exist. What is beside a neighbour is that one's to unite.
    if (parent[i - width] >= 0) {
        unite(parent, i, i - width);
        return;
    }
    if (parent[i - 1] >= 0)
        unite(parent, i, i - 1);
    else if (parent[i - width - 1] >= 0)
        unite(parent, i, i - width - 1);
    if (parent[i - width + 1] >= 0) unite(parent, i, i - width + 1);
}

extern "C" __global__ void mark_strong(const float* thinned, int* parent, long long pixels,
                                       const float* thresholds, unsigned char* strong) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, at = blockIdx.y * pixels + i;
    if (i >= pixels || parent[at] < 0 || !(thinned[at] > thresholds[2 * blockIdx.y + 1])) return;
    strong[root_of(parent, (int)at)] = 1;
}

// Edges have negative strengths from here on.
extern "C" __global__ void keep_connected(float* thinned, int* parent, long long count, const unsigned char* strong) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && parent[i] >= 0 && strong[root_of(parent, (int)i)]) thinned[i] = -thinned[i];
}

// Whether an edge pixel has an edge beside it and one above or below, and its edge neighbours stay connected without it.
// off: whether its neighbours are no edges, turning from the right one and back to it.
__device__ __forceinline__ bool is_corner(const bool* off) {
    if ((off[0] && off[4]) || (off[2] && off[6])) return false;
    int parts = 0;
#pragma unroll
    for (int k = 0; k < 8; k += 2) parts += off[k] && !(off[k + 1] && off[k + 2]);
    return parts == 1;
}

#define PIECE 4096  // pixels that a block lists together

// flags: bit 0, a spare corner; bit 1, listed. counters: those listed for even and for odd rounds; those going in even and
// in odd rounds; arrivals. 256 threads a block.
extern "C" __global__ void list_corners(const float* edges, int width, long long count, int* flags, int* listed,
                                        int* counters) {
    __shared__ int own[PIECE];
    __shared__ int found, at;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const long long end = min(count, (blockIdx.x + 1LL) * PIECE);
    for (long long i = blockIdx.x * (long long)PIECE + threadIdx.x; i < end; i += 256) {
        bool spare = edges[i] < 0;
        if (spare) {
            const float* p = edges + i;
            const int w = width;
            const bool off[9] = {p[1] >= 0,     p[1 - w] >= 0, p[-w] >= 0,    p[-1 - w] >= 0, p[-1] >= 0,
                                 p[w - 1] >= 0, p[w] >= 0,     p[w + 1] >= 0, p[1] >= 0};
            spare = is_corner(off);
        }
        flags[i] = spare ? 3 : 0;
        if (spare) own[atomicAdd(&found, 1)] = (int)i;
    }
    __syncthreads();
    if (threadIdx.x == 0 && found) at = atomicAdd(counters, found);
    __syncthreads();
    for (int n = threadIdx.x; n < found; n += 256) listed[at + n] = own[n];
}

__device__ __forceinline__ void wait_for_all(int* arrivals) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned blocks = gridDim.x, ticket = atomicAdd((unsigned*)arrivals, 1u);
        const unsigned target = (ticket / blocks + 1) * blocks;
        while ((int)(*(volatile unsigned*)arrivals - target) < 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ __forceinline__ bool is_weakest(const float* edges, const int* flags, int i, int width) {
    const int beside[4] = {1, -1, width, -width};
    const float own = __ldcg(edges + i);
    bool weakest = true;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int j = i + beside[k];
        if (!(__ldcg(flags + j) & 1)) continue;
        const float other = __ldcg(edges + j);  // negative: the weaker is the larger
        weakest &= own > other || (own == other && i < j);
    }
    return weakest;
}

__device__ __forceinline__ void look_around(const float* edges, int* flags, int i, int w, int* listed, int* count) {
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            const int j = i + dy * w + dx;
            if (!(__ldcg(edges + j) < 0)) continue;
            const int around[9] = {1, 1 - w, -w, -1 - w, -1, w - 1, w, w + 1, 1};
            bool off[9];
#pragma unroll
            for (int k = 0; k < 9; ++k) off[k] = __ldcg(edges + j + around[k]) >= 0;
            if (!is_corner(off))
                atomicAnd(flags + j, ~1);
            else if (!(atomicOr(flags + j, 3) & 2))
                listed[atomicAdd(count, 1)] = j;
        }
}

// lists: corners of even rounds, of odd rounds, and those that go, `room` places each. What stays in a list goes into the
// next one, so that lists grow short soon.
extern "C" __global__ void remove_corners(float* edges, int width, int* flags, int* lists, long long room,
                                          int* counters) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    int* const going = lists + 2 * room;
    for (int round = 0;; ++round) {
        const int even = round % 2;
        const int *listed = lists + even * room, listed_count = __ldcg(counters + even);
        int *next = lists + (1 - even) * room, *next_count = counters + 1 - even, *leaving = counters + 2 + even;
        for (int n = first; n < listed_count; n += all) {
            const int i = __ldcg(listed + n);
            const bool spare = __ldcg(flags + i) & 1, goes = spare && is_weakest(edges, flags, i, width);
            append(goes, i, going, leaving);
            append(spare && !goes, i, next, next_count);
            if (!spare) atomicAnd(flags + i, ~2);
        }
        wait_for_all(counters + 4);
        const int count = __ldcg(leaving);
        if (count == 0) return;
        if (first == 0) counters[even] = counters[2 + 1 - even] = 0;
        for (int n = first; n < count; n += all) {
            const int i = __ldcg(going + n);
            edges[i] = 0;
            flags[i] = 0;
        }
        wait_for_all(counters + 4);
        for (int n = first; n < count; n += all)
            look_around(edges, flags, __ldcg(going + n), width, next, next_count);
        wait_for_all(counters + 4);
    }
}
