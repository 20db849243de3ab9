"""The verb for videos: outputs, records, one line for each object that is wrong."""

import json
import sys
from contextlib import nullcontext

import pytest
from typer.testing import CliRunner

from imtorque.cli import app
from imtorque.cli import track as verb
from imtorque.files import write_image
from imtorque.synthetic import spot_scene
from video_files import drawn_frames, make_video


def run(*arguments, status=0):
    result = CliRunner().invoke(app, ["track", *(str(argument) for argument in arguments)])
    assert result.exit_code == status, result.output
    return result


def test_table_overlay_and_record_are_written_and_not_done_again(tmp_path):
    video, out = make_video(tmp_path), tmp_path / "out"
    result = run(video, "--every", 5, "--overlay", "--out", out)
    assert "24 places in 12 frames, 2 tracks" in result.stdout
    assert sorted(path.name for path in out.iterdir()) == [f"open.mp4.track.{end}" for end in ("csv", "json", "mp4")]
    again = run(video, "--every", 5, "--overlay", "--out", out, "--jobs", 2)
    assert "(as before)" in again.stdout
    assert "(as before)" not in run(video, "--every", 6, "--overlay", "--out", out).stdout


def test_json_is_one_object(tmp_path):
    result = run(
        make_video(tmp_path, count=6), "--json", "--out", tmp_path, "--sizes", "11-40", "--sign", "dark", "--no-link"
    )
    report = json.loads(result.stdout)
    assert report["videos"][0]["result"] == {"frames": 6, "places": 6, "tracks": 0, "full": 0, "warning": ""}
    assert report["parameters"]["find"]["sizes"][0] == 11
    assert report["stopped"] is False


def test_blobs_of_a_folder(tmp_path):
    (tmp_path / "in").mkdir()
    for k, frame in enumerate(drawn_frames(4)):
        write_image(tmp_path / "in" / f"{k}.png", frame)
    result = run(tmp_path / "in", "--find", "blobs", "--sizes", "12-30", "--out", tmp_path / "out")
    assert "8 places in 4 frames, 2 tracks" in result.stdout


def test_sizes_alone_find_hundreds_of_faint_spots(tmp_path):
    (tmp_path / "in").mkdir()
    for k, frame in enumerate(spot_scene(3, frames=2, noise=2).frames()):
        write_image(tmp_path / "in" / f"{k}.png", frame)
    result = run(tmp_path / "in", "--sizes", "5-11", "--json", "--out", tmp_path / "out")
    found = json.loads(result.stdout)["videos"][0]["result"]
    assert 0.97 * 1100 <= found["places"] <= 1.03 * 1100
    assert found["full"] == 0


def test_what_finds_nothing_or_as_much_as_it_may_is_said(tmp_path):
    video, out = make_video(tmp_path, count=3), tmp_path / "out"
    none = run(video, "--threshold", 3, "--out", out)
    assert "0 places in 3 frames" in none.stdout
    assert "nothing was found: try --sizes, a lower --threshold, or --find blobs" in none.stderr
    capped = run(video, "--threshold", 0.05, "--count", 1, "--out", out)
    assert "3 frames have as many places as --count allows, and maybe more objects" in capped.stderr
    assert run(video, "--out", out).stderr == ""
    refused = run(video, "--threshold", 0.05, "--find", "blobs", "--out", out, status=2)
    assert "leave it out with --find blobs" in refused.stderr


def test_each_bad_video_is_one_line_and_the_others_are_done(tmp_path):
    (tmp_path / "bad.mp4").write_text("no video")
    good = make_video(tmp_path, count=3)
    result = run(tmp_path / "bad.mp4", tmp_path / "none.mp4", 97, good, "--out", tmp_path / "out", status=1)
    assert len(result.stderr.splitlines()) == 3
    assert "bad.mp4: must be a video that can be read" in result.stderr
    assert "none.mp4: no such file" in result.stderr
    assert "97: no such file" in result.stderr
    assert "6 places in 3 frames" in result.stdout
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_ctrl_c_says_what_is_there(tmp_path, monkeypatch):
    def stop(_name, done, _total):
        if done == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(verb, "progress_bars", lambda: nullcontext(stop))
    result = run(make_video(tmp_path), "--out", tmp_path / "out", status=130)
    assert "stopped: " in result.stderr
    assert "open.mp4.track.csv holds the first 4 frames looked at" in result.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["open.mp4.track.csv", "open.mp4.track.json"]
    assert "result" not in json.loads((tmp_path / "out" / "open.mp4.track.json").read_text())


@pytest.mark.parametrize(
    ("option", "value"), [("--every", 0), ("--sizes", "big"), ("--sizes", "9-3"), ("--memory", -1)]
)
def test_bad_options_are_refused(tmp_path, option, value):
    run(make_video(tmp_path, count=2), option, value, "--out", tmp_path / "out", status=2)


def test_a_bar_is_shown_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with verb.progress_bars() as progress:
        progress("frames", 1, 2)
        progress("frames", 2, None)


def test_a_recording_that_is_cut_off_is_followed_up_to_there_and_that_is_said(tmp_path):
    path = make_video(tmp_path, "open.mkv")
    content = path.read_bytes()
    path.write_bytes(content[: int(0.7 * len(content))])
    result = run(path, "--out", tmp_path / "out", "--every", 5)
    assert "the video is cut off: it has 34 whole frames" in result.stderr
