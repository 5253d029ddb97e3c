#!/usr/bin/env python3
"""The pages docs/languages/: what starts the server runs in each language that is here, and is killed. For C#, Ruby and PHP, blocks that need an SDK are
parsed. The programs of Go, Java and Rust in their appendices are built with the SDK of the end-to-end tests, and run.

    tests/packages/languages.py BINARY [LIBRARY]     LIBRARY: libdynalith.so, for the examples in process
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

sys.dont_write_bytecode = True
from check import ENVIRONMENT, ROOT, Tests, killed_leaves_none, run

BINARY, LIBRARY = pathlib.Path(), None
GO = shutil.which("go") or "/usr/local/go/bin/go"
ORDERS = {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
          "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}


def write_blocks(folder, page, after=""):
    """Writes each block that has a file's name, after that heading; returns the names."""
    text = (ROOT / "docs/languages" / page).read_text()
    blocks = re.findall(r"```\w+ (\S+)\n(.*?)```", text[text.index(after):], flags=re.S)
    for name, text in blocks:
        (folder / name).write_text(text)
    return [name for name, _ in blocks]


def check(folder, command, waiting):
    environment = {"DYNALITH_BINARY": str(BINARY)}
    assert run(command, folder, **environment).split() == ["before", "1", "after", "0", "fired", "1"]
    assert "--no-such-option" in run([*command, "--no-such-option"], folder, status=None, **environment)
    killed_leaves_none(waiting, folder, **environment)


def test_ruby(folder):
    for name in write_blocks(folder, "ruby.md"):
        run(["ruby", "-wc", name], folder)
    (folder / "use.rb").write_text('''require_relative "dynalith"
server = Dynalith.start(*ARGV.grep(/^--/)).namespace(7)
ask = lambda do |operation, body|
  Net::HTTP.post(URI(server.url), JSON.dump(body), "X-Amz-Target" => "DynamoDB_20120810.#{operation}", "Content-Type" => "application/x-amz-json-1.0",
                 "X-Amz-Date" => "20260101T000000Z",
                 "Authorization" => "AWS4-HMAC-SHA256 Credential=#{server.account}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
end
server.rolled_back do
  reply = ask.("CreateTable", TableName: "orders", BillingMode: "PAY_PER_REQUEST", KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
                              AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }])
  raise reply.body unless reply.code == "200"
  puts "before #{JSON.parse(ask.("ListTables", {}).body)["TableNames"].size}"
end
puts "after #{JSON.parse(ask.("ListTables", {}).body)["TableNames"].size}"
server.control("PUT", "faults", rules: [{ operation: "ListTables", first: 1, error: "ThrottlingException" }])
raise unless ask.("ListTables", {}).code == "400"
puts "fired #{server.control("GET", "faults")["rules"][0]["fired"]}"
if ARGV.include?("wait")
  File.write("is-running", "")
  sleep
end
''')
    check(folder, ["ruby", "use.rb"], ["ruby", "use.rb", "wait"])


def test_php(folder):
    for name in write_blocks(folder, "php.md"):
        run(["php", "-l", name], folder)
    (folder / "use.php").write_text('''<?php
require 'Dynalith.php';
$options = array_slice($argv, 1);
$server = Dynalith::start(...array_values(preg_grep('/^--/', $options)))->namespace(7);
function ask(string $operation, $body): array
{
    global $server;
    $head = ["X-Amz-Target: DynamoDB_20120810.$operation", 'Content-Type: application/x-amz-json-1.0', 'X-Amz-Date: 20260101T000000Z',
        "Authorization: AWS4-HMAC-SHA256 Credential=$server->account/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"];
    $http = ['method' => 'POST', 'ignore_errors' => true, 'content' => json_encode($body), 'header' => $head];
    return json_decode(file_get_contents($server->url, false, stream_context_create(['http' => $http])), true);
}
$server->begin();
ask('CreateTable', ['TableName' => 'orders', 'BillingMode' => 'PAY_PER_REQUEST', 'KeySchema' => [['AttributeName' => 'id', 'KeyType' => 'HASH']],
    'AttributeDefinitions' => [['AttributeName' => 'id', 'AttributeType' => 'S']]]);
echo 'before ', count(ask('ListTables', new stdClass)['TableNames']), "\\n";
$server->rollback();
echo 'after ', count(ask('ListTables', new stdClass)['TableNames']), "\\n";
$server->control('PUT', 'faults', ['rules' => [['operation' => 'ListTables', 'first' => 1, 'error' => 'ThrottlingException']]]);
ask('ListTables', new stdClass);
echo 'fired ', $server->control('GET', 'faults')['rules'][0]['fired'], "\\n";
if (in_array('wait', $options)) {
    touch('is-running');
    sleep(600);
}
''')
    check(folder, ["php", "use.php"], ["php", "use.php", "wait"])


def test_dotnet(folder):
    for name in write_blocks(folder, "dotnet.md"):
        run(["mcs", "--parse", name], folder)
    (folder / "Use.cs").write_text('''using System;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Threading;

static class Use
{
    static string Ask(Dynalith server, string operation, string body)
    {
        var request = new HttpRequestMessage(HttpMethod.Post, server.Url) { Content = new StringContent(body, Encoding.UTF8, "application/x-amz-json-1.0") };
        request.Headers.Add("X-Amz-Target", "DynamoDB_20120810." + operation);
        request.Headers.Add("X-Amz-Date", "20260101T000000Z");
        request.Headers.TryAddWithoutValidation("Authorization", $"AWS4-HMAC-SHA256 Credential={server.Account}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0");
        return new HttpClient().SendAsync(request).Result.Content.ReadAsStringAsync().Result;
    }

    static int Count(Dynalith server) => Ask(server, "ListTables", "{}").Contains("orders") ? 1 : 0;

    static void Main(string[] options)
    {
        using (var all = options.Any(o => o.StartsWith("--")) ? new Dynalith(options) : new Dynalith())
        {
            var server = all.Namespace(7);
            server.Begin().Wait();
            Ask(server, "CreateTable", "{'TableName': 'orders', 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': [{'AttributeName': 'id', 'KeyType': 'HASH'}], 'AttributeDefinitions': [{'AttributeName': 'id', 'AttributeType': 'S'}]}".Replace("'", "\\""));
            Console.WriteLine("before " + Count(server));
            server.Rollback().Wait();
            Console.WriteLine("after " + Count(server));
            server.Control("PUT", "faults", "{\\"rules\\": [{\\"operation\\": \\"ListTables\\", \\"first\\": 1, \\"error\\": \\"ThrottlingException\\"}]}").Wait();
            Ask(server, "ListTables", "{}");
            Console.WriteLine("fired " + (server.Control("GET", "faults").Result.Contains("\\"fired\\":1") ? 1 : 0));
            if (!options.Contains("wait"))
                return;
            File.WriteAllText("is-running", "");
            Thread.Sleep(600000);
        }
    }
}
''')
    run(["mcs", "-out:use.exe", "-r:System.Net.Http", "Dynalith.cs", "Use.cs"], folder)
    check(folder, ["mono", "use.exe"], ["mono", "use.exe", "wait"])


def in_process(page, folder, command):
    write_blocks(folder, page, "## Without a second process")
    said = run(command, folder, DYNALITH_LIBRARY=str(LIBRARY), LD_LIBRARY_PATH=str(LIBRARY.parent))
    assert said == '["orders"]\n', said


def test_ruby_in_process(folder):
    in_process("ruby.md", folder, ["ruby", "-w", "in_process.rb"])


def test_php_in_process(folder):
    in_process("php.md", folder, ["php", "InProcess.php"])


def test_dotnet_in_process(folder):
    (folder / "Use.cs").write_text('''using System;

static class Use
{
    static void Main()
    {
        try { new InProcess("{'nope': 1}".Replace("'", "\\"")); }
        catch (InvalidOperationException problem) when (problem.Message.Contains("unknown option nope"))
        {
            using (var database = new InProcess())
            {
                database.Call("CreateTable", @"TABLE", out var status);
                var tables = database.Call("ListTables", "{}", out status);
                Console.WriteLine(tables.Replace("{'TableNames':".Replace("'", "\\""), "").TrimEnd('}'));
            }
        }
    }
}
'''.replace("TABLE", json.dumps(ORDERS).replace('"', '""')))
    in_process("dotnet.md", folder, ["bash", "-ec", "mcs -out:use.exe InProcess.cs Use.cs && mono use.exe"])


def quick_start(folder, page):
    """Writes the program of a page, for a server that it starts; returns the server."""
    server = subprocess.Popen([BINARY, "--in-memory", "--port", "0", "--exit-with-parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=ENVIRONMENT, text=True)
    url = server.stdout.readline().strip()
    name, = write_blocks(folder, page, "## Appendix: the SDK alone")
    text = (folder / name).read_text()
    assert "http://localhost:8000" in text
    (folder / name).write_text(text.replace("http://localhost:8000", url))
    request = urllib.request.Request(url, method="POST", data=json.dumps(ORDERS).encode(), headers={
        "X-Amz-Target": "DynamoDB_20120810.CreateTable", "Content-Type": "application/x-amz-json-1.0", "X-Amz-Date": "20260101T000000Z",
        "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"})
    urllib.request.urlopen(request, timeout=60).read()
    return server


def lists_orders(said):
    assert re.fullmatch(r'\["?orders"?\]', said.strip().split("\n")[-1]), said


def test_go(folder):
    with quick_start(folder, "go.md") as server:
        try:
            for name in ("go.mod", "go.sum"):
                shutil.copy(ROOT / "tests/e2e/go" / name, folder / name)
            lists_orders(run([GO, "run", "-mod=mod", "."], folder))
        finally:
            server.terminate()


def test_java(folder):
    with quick_start(folder, "java.md") as server:
        try:
            run(["mvn", "-B", "-q", "-f", ROOT / "tests/e2e/java/pom.xml", "dependency:build-classpath", f"-Dmdep.outputFile={folder}/classpath"], folder)
            classes = (folder / "classpath").read_text().strip()
            run(["javac", "-cp", classes, "Main.java"], folder)
            lists_orders(run(["java", "-cp", f"{folder}:{classes}", "Main"], folder))
        finally:
            server.terminate()


def test_rust(folder):
    """Shares what the end-to-end tests have built."""
    with quick_start(folder, "rust.md") as server:
        try:
            for name in ("Cargo.toml", "Cargo.lock"):
                shutil.copy(ROOT / "tests/e2e/rust" / name, folder / name)
            (folder / "src").mkdir()
            (folder / "main.rs").rename(folder / "src/main.rs")
            lists_orders(run(["cargo", "run", "-q", "--locked", "--target-dir", ROOT / "build/e2e/rust"], folder))
        finally:
            server.terminate()


def main():
    global BINARY, LIBRARY
    BINARY = pathlib.Path(sys.argv[1]).resolve()
    LIBRARY = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    tests = Tests("languages")
    for test, tool in ((test_ruby, "ruby"), (test_php, "php"), (test_dotnet, "mcs"), (test_go, GO), (test_java, "mvn"), (test_rust, "cargo")):
        if shutil.which(tool):
            tests.run(test)
        else:
            print(f"packages languages: no {tool} here", file=sys.stderr)
    for test, tool in ((test_ruby_in_process, "ruby"), (test_php_in_process, "php"), (test_dotnet_in_process, "mcs")) if LIBRARY else ():
        if shutil.which(tool):
            tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
