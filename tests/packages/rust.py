#!/usr/bin/env python3
"""The crate dynalith in a project that has nothing else; with SDK=1 in the environment the README's examples too, which build the SDK first.

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


def project(folder, test, dependencies="", features=""):
    (folder / "tests").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src/lib.rs").write_text("")
    (folder / "tests/orders.rs").write_text(test)
    (folder / "Cargo.toml").write_text(f'[package]\nname = "orders"\nversion = "1.0.0"\nedition = "2021"\n\n[dev-dependencies]\ndynalith = {{ path = "{CRATE}", features = [{features}] }}\n{dependencies}\n[profile.dev]\ndebug = false\n')
    text = run(["cargo", "test", "--no-run", *([] if dependencies else ["--offline"])], folder, CARGO_TARGET_DIR=str(ROOT / "build/packages/rust-target"))
    assert "warning" not in text, text
    return re.search(r"tests/orders.rs \((.*?)\)", text).group(1)


SDK = "\n".join(re.findall(r"^(?:aws-sdk|tokio).*$", (ROOT / "tests/e2e/rust/Cargo.toml").read_text(), flags=re.M)) + "\n"


def test_readme(folder):
    assert "1 passed" in run([project(folder, blocks(README, "rust")[0], SDK)], folder)


def test_readme_in_process(folder):
    assert "4 passed" in run([project(folder, blocks(README, "rust")[1] + SDK_TESTS, SDK, '"in-process"')], folder)


# The SDK tries again where a rule has closed a connection; its timeouts apply, also on a runtime of one thread.
SDK_TESTS = r'''
async fn create(config: aws_sdk_dynamodb::config::Builder) -> aws_sdk_dynamodb::Client {
    let client = aws_sdk_dynamodb::Client::from_conf(config.build());
    client.create_table().table_name("orders").billing_mode(BillingMode::PayPerRequest)
        .key_schema(KeySchemaElement::builder().attribute_name("id").key_type(KeyType::Hash).build().unwrap())
        .attribute_definitions(AttributeDefinition::builder().attribute_name("id").attribute_type(ScalarAttributeType::S).build().unwrap())
        .send().await.unwrap();
    client
}

#[tokio::test]
async fn timeouts() {
    use aws_sdk_dynamodb::config::{retry::RetryConfig, timeout::TimeoutConfig};
    let tables = in_process::tables();
    let timeouts = TimeoutConfig::builder().read_timeout(std::time::Duration::from_millis(50)).build();
    let client = create(config(&tables).retry_config(RetryConfig::disabled())).await;
    let hasty = aws_sdk_dynamodb::Client::from_conf(config(&tables).retry_config(RetryConfig::disabled()).timeout_config(timeouts).build());
    tables.faults(r#"[{"operation": "Scan", "hold": 300000}]"#).unwrap();
    let error = hasty.scan().table_name("orders").send().await.unwrap_err();
    assert!(matches!(error, aws_sdk_dynamodb::error::SdkError::DispatchFailure(ref failure) if failure.is_timeout()), "{error:?}");
    tables.faults("[]").unwrap();
    assert_eq!(client.scan().table_name("orders").send().await.unwrap().count(), 0);
}

// On a runtime of one thread: calls that are answered at once leave other tasks their turn, and one that is held blocks none.
#[tokio::test]
async fn other_tasks_go_on() {
    let tables = in_process::InProcess::open(&[]).unwrap().namespace("000000000009");
    let client = create(config(&tables)).await;
    let key = || AttributeValue::S("1".into());
    let (count, turns) = (std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0)), || tokio::task::yield_now());
    let seen = count.clone();
    tokio::spawn(async move {
        loop {
            seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            turns().await;
        }
    });
    for _ in 0..100 {
        client.put_item().table_name("orders").item("id", key()).send().await.unwrap();
    }
    assert!(count.load(std::sync::atomic::Ordering::SeqCst) > 5, "{count:?}");
    tables.faults(r#"[{"operation": "PutItem", "hold": 300000}]"#).unwrap();
    let held = tokio::spawn(client.put_item().table_name("orders").item("id", key()).send());
    for _ in 0..20 {
        assert!(client.get_item().table_name("orders").key("id", key()).send().await.unwrap().item().is_some());
    }
    tables.faults("[]").unwrap();
    held.await.unwrap().unwrap();
}

#[tokio::test]
async fn retries_and_signatures() {
    let instance = in_process::InProcess::open(&[]).unwrap();
    let signed = aws_sdk_dynamodb::Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new("eu-west-1")).http_client(instance.http_client())
        .credentials_provider(aws_sdk_dynamodb::config::Credentials::new("000000000007", "any", None, None, "test"));
    let client = create(signed).await;
    assert!(client.describe_table().table_name("orders").send().await.unwrap().table().unwrap().table_arn().unwrap().contains("eu-west-1:000000000007"));
    let tables = instance.namespace("000000000008");
    let client = create(config(&tables)).await;
    tables.faults(r#"[{"operation": "Scan", "first": 2, "close": "before"}]"#).unwrap();
    client.scan().table_name("orders").send().await.unwrap();
    let text = client.scan().table_name("none").send().await.unwrap_err().into_service_error().to_string();
    assert!(text.starts_with("ResourceNotFoundException"), "{text}");
    instance.close();
    let error = client.scan().table_name("orders").send().await.unwrap_err();
    assert!(format!("{error:?}").contains("the instance is closed"), "{error:?}");
}
'''


def test_in_process(folder):
    """Without the SDK: state, clock, files, two that do not see each other, calls that block no thread of their callers, the end, what is refused."""
    smithy = 'aws-smithy-runtime-api = { version = "1", features = ["client", "test-util"] }\naws-smithy-types = "1"\n'
    tests = project(folder, IN_PROCESS, smithy, '"in-process"')
    assert "6 passed" in run([tests], folder)


IN_PROCESS = r'''
use aws_smithy_runtime_api::client::http::{HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponentsBuilder;
use aws_smithy_types::body::SdkBody;
use dynalith::in_process::{self, InProcess};
use std::{future::Future, pin::pin, sync::Arc, task::{Context, Poll, Wake}, thread::{self, Thread}};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

fn begin(client: &in_process::HttpClient, target: &str, body: &str) -> HttpConnectorFuture {
    let mut request = HttpRequest::new(SdkBody::from(body));
    request.set_method("POST").unwrap();
    request.set_uri("https://dynamodb.us-east-1.amazonaws.com/").unwrap();
    request.headers_mut().insert("x-amz-target", format!("DynamoDB_20120810.{target}"));
    let components = RuntimeComponentsBuilder::for_tests().build().unwrap();
    client.http_connector(&HttpConnectorSettings::builder().build(), &components).call(request)
}

async fn end(call: HttpConnectorFuture) -> Result<String, String> {
    let reply = call.await.map_err(|error| format!("{error:?}"))?;
    let text = String::from_utf8(reply.body().bytes().unwrap().to_vec()).unwrap();
    assert_eq!(reply.headers().get("x-amzn-requestid").unwrap().len(), 52);
    if reply.status().as_u16() == 200 { Ok(text) } else { Err(text) }
}

fn ask(client: &in_process::HttpClient, target: &str, body: &str) -> Result<String, String> {
    wait(end(begin(client, target, body)))
}

const TABLE: &str = r#"{"TableName":"orders","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
    "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}"#;
const PUT: &str = r#"{"TableName":"orders","Item":{"id":{"S":"\u00fc"}}}"#;
const SCAN: &str = r#"{"TableName":"orders","Select":"COUNT"}"#;

#[test]
fn state() {
    let (tables, other) = (in_process::tables(), in_process::tables());
    let client = tables.http_client();
    ask(&client, "CreateTable", TABLE).unwrap();
    assert_eq!(ask(&other.http_client(), "ListTables", "{}").unwrap(), r#"{"TableNames":[]}"#);
    tables.checkpoint("empty").unwrap();
    ask(&client, "PutItem", PUT).unwrap();
    assert!(ask(&client, "Scan", SCAN).unwrap().contains("\"Count\":1"));
    tables.rollback("empty").unwrap();
    assert!(ask(&client, "Scan", SCAN).unwrap().contains("\"Count\":0"));
    tables.clock(r#"{"advance": "1h"}"#).unwrap();
    assert!(tables.control("GET", "no-such-endpoint", "").is_err());
    tables.reset().unwrap();
    assert!(ask(&client, "Scan", SCAN).unwrap_err().contains("ResourceNotFoundException"));
}

#[test]
fn files() {
    let tables = in_process::tables();
    std::fs::write("orders.csv", "id\nseeded\n").unwrap();
    ask(&tables.http_client(), "CreateTable", TABLE).unwrap();
    tables.apply("orders.csv").unwrap();
    assert!(ask(&tables.http_client(), "Scan", SCAN).unwrap().contains("\"Count\":1"));
    assert!(tables.apply("no-such-file.yaml").unwrap_err().to_string().contains("no-such-file.yaml"));
}

#[test]
fn blocks_nobody() {
    let tables = in_process::tables();
    let client = tables.http_client();
    ask(&client, "CreateTable", TABLE).unwrap();
    tables.faults(r#"[{"operation": "PutItem", "hold": 300000}]"#).unwrap();
    let mut puts: Vec<_> = (0..20).map(|_| Box::pin(end(begin(&client, "PutItem", PUT)))).collect();
    let waker = Arc::new(Unpark(thread::current())).into();
    for put in &mut puts {
        assert!(put.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    drop(puts.pop()); // it is carried out all the same
    assert!(ask(&client, "Scan", SCAN).unwrap().contains("\"Count\":0"));
    tables.faults("[]").unwrap();
    puts.into_iter().for_each(|put| drop(wait(put).unwrap()));
    tables.faults(r#"[{"operation": "Scan", "first": 1, "close": "before"}]"#).unwrap();
    assert!(ask(&client, "Scan", SCAN).unwrap_err().contains("a fault rule has closed the connection"));
    assert!(ask(&client, "Scan", SCAN).unwrap().contains("\"Count\":1"));
}

#[test]
fn many_threads() {
    let instance = InProcess::open(&[]).unwrap();
    let client = instance.namespace("000000000001").http_client();
    ask(&client, "CreateTable", TABLE).unwrap();
    thread::scope(|scope| {
        for i in 0..8 {
            let client = &client;
            scope.spawn(move || (0..50).for_each(|j| drop(ask(client, "PutItem", &PUT.replace("\\u00fc", &format!("{i} {j}"))).unwrap())));
        }
    });
    assert!(ask(&client, "Scan", SCAN).unwrap().contains("\"Count\":400"));
}

#[test]
fn closes() {
    let (one, two) = (InProcess::open(&["--ttl-delay", "60", "--auth=off"]).unwrap(), InProcess::open(&["--body-limit-mb=1"]).unwrap());
    let client = one.http_client();
    ask(&client, "CreateTable", TABLE).unwrap();
    assert_eq!(ask(&two.http_client(), "ListTables", "{}").unwrap(), r#"{"TableNames":[]}"#);
    one.close();
    one.close();
    assert!(ask(&client, "ListTables", "{}").unwrap_err().contains("the instance is closed"));
    assert!(one.namespace("000000000001").reset().unwrap_err().to_string().contains("the instance is closed"));
    let client = two.http_client();
    drop(two); // the client keeps it
    ask(&client, "PutItem", &" ".repeat(2 << 20)).unwrap_err();
    ask(&client, "ListTables", "{}").unwrap();
    let talks = InProcess::open(&["--log-level=debug"]).unwrap();
    ask(&talks.http_client(), "ListTables", "{}").unwrap();
    assert!(talks.log(0).contains("ListTables") && !talks.log(talks.log(0).len() as u64).contains("ListTables"));
}

#[test]
fn refuses() {
    let why = |options: &[&str]| InProcess::open(options).unwrap_err().to_string();
    assert!(why(&["--no-such-option"]).contains("no-such-option"));
    assert!(why(&["in-memory"]).contains("\"in-memory\" is not an option"));
    assert!(why(&["--db-path", "a\0b"]).contains("dynalith: "));
    let checks = InProcess::open(&["--auth", "verify"]).unwrap();
    assert!(ask(&checks.namespace("000000000001").http_client(), "ListTables", "{}").unwrap_err().contains("MissingAuthenticationToken"));
}
'''


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
    if not list(CRATE.glob("libraries/*")):
        print("packages rust: no libdynalith in this crate, in process is not tested")
        return tests.end()
    for test in (test_in_process, *([test_readme_in_process] if os.environ.get("SDK") else [])):
        tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
