#!/usr/bin/env python3
"""The crate dynalith in a project that has nothing else; with SDK=1 in the environment the README's example too, which builds the SDK first.

    tests/packages/rust.py FOLDER       by packaging/make-crate
"""
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from check import ROOT, Tests, blocks, killed_leaves_none, run

CRATE = pathlib.Path()
README = ROOT / "packaging/rust/README.md"


def project(folder, test, dependencies=""):
    (folder / "tests").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src/lib.rs").write_text("")
    (folder / "tests/orders.rs").write_text(test)
    (folder / "Cargo.toml").write_text(f'[package]\nname = "orders"\nversion = "1.0.0"\nedition = "2021"\n\n[dev-dependencies]\ndynalith = {{ path = "{CRATE}" }}\n{dependencies}')
    text = run(["cargo", "test", "--no-run", *([] if dependencies else ["--offline"])], folder, CARGO_TARGET_DIR=str(ROOT / "build/packages/rust-target"))
    assert "warning" not in text, text
    return re.search(r"tests/orders.rs \((.*?)\)", text).group(1)


def test_readme(folder):
    sdk = re.findall(r"^(?:aws-sdk|tokio).*$", (ROOT / "tests/e2e/rust/Cargo.toml").read_text(), flags=re.M)
    assert "1 passed" in run([project(folder, blocks(README, "rust")[0], "\n".join(sdk) + "\n")], folder)


MANY = "".join(f"#[test]\nfn alone_{i}() {{ alone() }}\n" for i in range(200)) + r'''
fn alone() {
    let tables = dynalith::tables();
    assert_eq!(tables.control("GET", "checkpoints", "").unwrap(), "{\"checkpoints\":[]}");
    tables.checkpoint("a").unwrap();
    tables.clock("{\"advance\": \"1h\"}").unwrap();
    tables.rollback("a").unwrap();
    tables.faults("[{\"operation\": \"PutItem\", \"first\": 1, \"error\": \"ThrottlingException\"}]").unwrap();
    assert!(tables.control("GET", "faults", "").unwrap().contains("\"fired\":0"));
    assert!(tables.control("GET", "no-such-endpoint", "").is_err());
}
'''


def test_workers(folder):
    text = run([project(folder, MANY), "--test-threads", "4"], folder)
    assert "200 passed" in text
    print(f"packages rust: 200 tests in 4 threads: {re.search(r'finished in (.*)s', text).group(1)} s")


def test_start_and_end(folder):
    text = run([project(folder, r'''
#[test]
fn start() {
    let mut times = Vec::new();
    for _ in 0..11 {
        let begin = std::time::Instant::now();
        let server = dynalith::Server::with_options(&["--auth", "off"]).unwrap();
        server.namespace("000000000001").control("GET", "clock", "").unwrap();
        times.push(begin.elapsed());
        let id = server.id();
        assert!(std::path::Path::new(&format!("/proc/{id}")).exists());
        drop(server);
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    }
    times.sort();
    println!("median {:.1} ms", times[5].as_secs_f64() * 1000.0);
    let problem = dynalith::Server::with_options(&["--no-such-option"]).err().unwrap().to_string();
    assert!(problem.contains("--no-such-option"), "{problem}");
}
'''), "--nocapture"], folder)
    print(f"packages rust: start to first answer, {re.search(r'median .* ms', text).group(0)}")


def test_killed(folder):
    killed_leaves_none([project(folder, '''
#[test]
fn waits() {
    let _tables = dynalith::tables();
    std::fs::write("is-running", "").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(600));
}
''')], folder)


def test_log(folder):
    """The log of a test that panics is printed, and only of its while."""
    text = run([project(folder, '''
use std::io::{Read, Write};

#[test]
fn fails() {
    let tables = dynalith::tables();
    let mut stream = std::net::TcpStream::connect(tables.url().trim_start_matches("http://")).unwrap();
    stream.write_all(b"POST / HTTP/1.0\\r\\nX-Amz-Target: DynamoDB_20120810.ListTables\\r\\nContent-Length: 2\\r\\n\\r\\n{}").unwrap();
    stream.read_to_string(&mut String::new()).unwrap();
    panic!("on purpose");
}
''')], folder, status=101, DYNALITH_LOG_LEVEL="debug")
    assert "level=debug" in text[text.index("log of dynalith"):] and "is ready" not in text, text


def main():
    global CRATE
    CRATE = pathlib.Path(sys.argv[1]).resolve()
    tests = Tests("rust")
    for test in (test_workers, test_start_and_end, test_killed, test_log, *([test_readme] if os.environ.get("SDK") else [])):
        tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
