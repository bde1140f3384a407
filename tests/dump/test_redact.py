"""What says who and where is taken out of texts, alike everywhere; the program stays."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlareport.dump.redact import Redactor


def redacted(*lines: str, path: str = "module_0001.jit_f.txt") -> list[str]:
    content = "\n".join(lines).encode()
    redactor = Redactor()
    redactor.learn(path, content)
    return redactor.text(content).decode().split("\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('1 "/home/alice/secret/train.py"', '1 "/redacted/path1.py"'),
        ('xla_dump_to: "/mnt/nfs/runs/7"', 'xla_dump_to: "/redacted/path1"'),
        (r'file "C:\Users\bob\model.py"', 'file "/redacted/path1.py"'),
        ('source_file="model/train.py" source_line=3', 'source_file="source1.py" source_line=3'),
        ('loc("train.py":3:1)', 'loc("source1.py":3:1)'),
        ("ran on gpu-17.prod.example.com today", "ran on host1 today"),
        ("coordinator 10.1.2.3:8476", "coordinator host1:8476"),
        ("by alice@example.com", "by address1"),
        ("AWS_SECRET_KEY=abc123/x", "AWS_SECRET_KEY=variable1"),
        ("/home/alice/a.py of alice, not malice", "/redacted/path1.py of user1, not malice"),
        ('1 "/home/alice/My Project/secret app/a.py"', '1 "/redacted/path1.py"'),
        ('1 "team/model.ipynb"', '1 "source1"'),
        (r'"/home/jos\303\251/x.py"', '"/redacted/path1.py"'),
        (
            r'"\n\022\014/home/alice/run.sh\022\005hello"',
            r'"\n\022\014/redacted/path1.sh\022\005hello"',
        ),
        (r"{\22a\22: \22/home/alice/x.py\22}", r"{\22a\22: \22/redacted/path1.py\22}"),
        ("=/usr/local/a:/mnt/b/c -I/opt/x/y", "=/redacted/path1:/redacted/path2 -I/redacted/path3"),
        ("file:///home/alice/x gs://bucket/run", "address1 address2"),
        (r'{"a":"\/home\/alice\/x.txt"}', '{"a":"/redacted/path1.txt"}'),
        (r"{\"a\":\"/data/a b/c.bin\"}", r"{\"a\":\"/redacted/path1.bin\"}"),
        ("%2Fhome%2Falice%2Fx", "/redacted/path1"),
        (r"C:\Users\Jane Doe\m\a.py, then", "/redacted/path1.py, then"),
        (
            'user: "bobby" hostname: "n17" bobby on n17',
            'user: "user1" hostname: "host1" user1 on host1',
        ),
        ("password=abc api_key: 'x'", "password=value1 api_key: value2"),
        ("2001:db8::1 and 00:1a:2b:3c:4d:5e", "host1 and host2"),
        ("team/train.py:33 in f", "source1.py:33 in f"),
    ],
)
def test_taken_out(line: str, expected: str) -> None:
    assert redacted(line) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "HloModule jit_train_step, is_scheduled=true, num_partitions=2",
        '  %add.1 = f32[8]{0} add(%a, %b), metadata={op_name="jit(f)/mlp/add"}',
        "  %t = (f32[8]{0}, /*index=5*/f32[]) tuple(%a, %b)",
        "  %c.1.2.3.4 = f32[] constant(1)",
        "ENTRY %main.5 (p0: f32[]) -> f32[] {",
        "%0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>",
        "[type.googleapis.com/xla.HloModuleProto]",
        "S(1) T(8,128)(2,1)",
        '"/job:localhost/replica:0/task:0/device:CPU:0"',
        '%d = f32[] dot(%a, %b), metadata={op_name="/model/dense/MatMul"}',
        "--xla_keep_user=false --xla_secret=17",
        "ran::on a::b, fusion(%p), calls=%f.py(1)",
    ],
)
def test_the_program_stays(line: str) -> None:
    assert redacted(line) == [line]


def test_the_same_thing_is_replaced_alike_and_counted_once() -> None:
    redactor = Redactor()
    first, second = b'1 "/a/b/c.py"\n2 "/a/b/d.py"', b'file "/a/b/d.py"'

    assert redactor.text(first) == b'1 "/redacted/path1.py"\n2 "/redacted/path2.py"'
    assert redactor.text(second) == b'file "/redacted/path2.py"'
    assert redactor.counts == {"paths": 2}
    assert redactor.replaced["/a/b/d.py"] == "/redacted/path2.py"


@pytest.mark.parametrize("quote", ['"', r"\22", r"\n", r"\042"])
def test_bytes_in_base64_are_looked_into_and_keep_their_number(quote: str) -> None:
    content = b"ML\xefR\0/home/alice/kernel.py\0matmul\0alice\0" + b"\1" * 40
    (clean,) = redacted(f"body: {quote}{base64.b64encode(content).decode()} ")
    decoded = base64.b64decode(clean.removeprefix(f"body: {quote}"))

    assert len(decoded) == len(content)
    assert decoded.startswith(b"ML\xefR\0/redacted/path1.py---\0matmul\0user1\0")


def test_what_is_compressed_cannot_be_looked_into_and_goes() -> None:
    packed = base64.b64encode(b"\x1f\x8b" + bytes(range(100))).decode()

    assert redacted(f"x={packed};") == ["x=packed1;"]


def test_a_user_named_like_an_opcode_does_not_change_the_program() -> None:
    redactor = Redactor(keep=frozenset(("add",)))
    content = b"%add.1 = f32[] add(%a, %b) of /home/add/x.py"
    redactor.learn("a.txt", content)

    assert redactor.text(content) == b"%add.1 = f32[] add(%a, %b) of /redacted/path1.py"


def test_many_users_are_told_apart() -> None:
    content = "\n".join(f"/home/u{number}x/a of u{number}x" for number in range(3000)).encode()
    redactor = Redactor()
    redactor.learn("a.txt", content)
    clean = redactor.text(content).decode()

    assert clean.endswith(" of user3000")
    assert not re.search(r"u\d+x", clean)


def test_users_of_a_line_are_replaced_in_one_order_in_every_run() -> None:
    users = [f"u{number}x" for number in range(10, 20)]
    content = " ".join(("/home/u10x/a", *(f"user={name}" for name in users))).encode()
    redactor = Redactor()
    redactor.learn("a.txt", content)
    redactor.text(" ".join(reversed(users)).encode())

    assert [name for name in redactor.replaced if name in users] == users


def test_the_host_of_a_subfolder_is_taken_out_of_paths_and_texts() -> None:
    redactor = Redactor()
    path = "jit_f/tpu-vm-7_1234/module_0001.jit_f.txt"
    redactor.learn(path, b"")

    assert redactor.path(path) == "jit_f/host1_1234/module_0001.jit_f.txt"
    assert redactor.text(b"on tpu-vm-7:") == b"on host1:"


def test_the_user_of_a_home_below_the_dump_is_taken_out_of_paths() -> None:
    redactor = Redactor()
    redactor.learn("home/alice/module_0001.jit_f.txt", b"")

    assert redactor.path("home/alice/module_0001.jit_f.txt") == "home/user1/module_0001.jit_f.txt"


@given(st.binary(max_size=300))
def test_twice_is_once_and_lines_stay_lines(content: bytes) -> None:
    redactor = Redactor()
    redactor.learn("a.txt", content)
    once = redactor.text(content)

    assert once.count(b"\n") == content.count(b"\n")
    assert redactor.text(once).count(b"\n") == once.count(b"\n")
