import math
import os

import pytest

from asyncplay.machine import quota_cores, usable_cores


def machine(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no affinity")
def test_without_control_groups_the_affinity_decides(tmp_path):
    assert quota_cores(tmp_path) == math.inf
    assert usable_cores(tmp_path) == len(os.sched_getaffinity(0))


def test_version_2_takes_the_smallest_quota_on_the_way_up(tmp_path):
    files = {
        "proc/self/cgroup": "0::/slice/job\n",
        "sys/fs/cgroup/slice/job/cpu.max": "max 100000\n",
        "sys/fs/cgroup/slice/cpu.max": "350000 100000\n",
        "sys/fs/cgroup/cpu.max": "800000 100000\n",
    }
    assert quota_cores(machine(tmp_path, files)) == 3.5


def test_version_1_reads_quota_and_period_of_the_cpu_controller(tmp_path):
    files = {
        "proc/self/cgroup": "5:memory:/job\n3:cpu,cpuacct:/job\n1:cpuset:/job\n",
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "150000\n",
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    }
    assert quota_cores(machine(tmp_path, files)) == 1.5


def test_a_group_that_a_container_cannot_see_still_has_the_containers_quota(tmp_path):
    files = {"proc/self/cgroup": "0::/outside/pod\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}
    assert quota_cores(machine(tmp_path, files)) == 2.0


@pytest.mark.parametrize("quota", ["50000 100000", "199999 100000"])
def test_a_started_core_does_not_count_and_one_always_remains(tmp_path, quota):
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": quota}
    assert usable_cores(machine(tmp_path, files)) == 1
