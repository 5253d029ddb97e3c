#!/usr/bin/env python3
"""The artifacts for Maven in projects that have nothing but them, JUnit and an SDK.

    tests/packages/maven.py REPOSITORY       by packaging/make-maven
"""
import pathlib
import re
import shutil
import sys
import time
import zipfile

sys.dont_write_bytecode = True
from check import ENVIRONMENT, ROOT, VERSION, Tests, blocks, killed_leaves_none, run

README = ROOT / "packaging/maven/README.md"
LOCAL = ROOT / "build/deps/packages-maven"  # where Maven keeps what others have made; our own artifacts are taken from it before each run
REPOSITORY = pathlib.Path()
MAVEN = ["mvn", "-B", "-q", f"-Dmaven.repo.local={LOCAL}"]
JUNIT, CONSOLE = "5.11.4", "1.11.4"
SDK2 = re.search(r"<awssdk>(.*)</awssdk>", (ROOT / "tests/e2e/java/pom.xml").read_text()).group(1)
SDKS = {
    "2": f"<dependency><groupId>software.amazon.awssdk</groupId><artifactId>dynamodb-enhanced</artifactId><version>{SDK2}</version></dependency>",
    "1": "<dependency><groupId>com.amazonaws</groupId><artifactId>aws-java-sdk-dynamodb</artifactId><version>1.12.780</version></dependency>",
}
QUIET = "<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>"
CONTAINER = f"<dependency><groupId>io.github.dynalith</groupId><artifactId>dynalith-testcontainers</artifactId><version>{VERSION}</version></dependency>"
ENVIRONMENT["XDG_CACHE_HOME"] = str(ROOT / "build/packages/cache")  # where the server is unpacked
ALL = []  # the class path with everything
HAS_LIBRARY = False

HEAD = """import static org.junit.jupiter.api.Assertions.*;

import java.util.*;

import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.datamodeling.DynamoDBMapper;
import org.junit.jupiter.api.*;
import org.junit.jupiter.api.parallel.*;
import software.amazon.awssdk.enhanced.dynamodb.*;
import software.amazon.awssdk.services.dynamodb.*;
import software.amazon.awssdk.services.dynamodb.model.*;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import io.github.dynalith.*;
import io.github.dynalith.junit5.Dynalith;
"""
SEED = """
class Orders {
	static void create(DynamoDbClient client) {
		client.createTable(t -> t.tableName("orders").billingMode(BillingMode.PAY_PER_REQUEST)
			.keySchema(k -> k.attributeName("id").keyType(KeyType.HASH)).attributeDefinitions(a -> a.attributeName("id").attributeType("S")));
	}

	static void put(DynamoDbClient client, String id) {
		client.putItem(p -> p.tableName("orders").item(Collections.singletonMap("id", AttributeValue.fromS(id))));
	}

	static int count(DynamoDbClient client) {
		return client.scan(s -> s.tableName("orders").consistentRead(true)).count();
	}
}
"""


def pom(folder, dependencies):
    (folder / "pom.xml").write_text(f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>orders</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>1.8</maven.compiler.source>
    <maven.compiler.target>1.8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories><repository><id>dynalith</id><url>{REPOSITORY.as_uri()}</url></repository></repositories>
  <dependencies>
    {blocks(README, "xml")[0].replace("0.2.0", VERSION)}
    <dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>{JUNIT}</version><scope>test</scope></dependency>
    {QUIET}
    {dependencies}
  </dependencies>
  <build><plugins>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
    <plugin><artifactId>maven-dependency-plugin</artifactId><version>2.8</version></plugin>
  </plugins></build>
</project>
""")


def by_maven(folder, dependencies, name, test, *more):
    (folder / "src/test/java").mkdir(parents=True)
    (folder / f"src/test/java/{name}.java").write_text(test)
    pom(folder, dependencies)
    run([*MAVEN, *more, "test"], folder)
    report = (folder / f"target/surefire-reports/{name}.txt").read_text()
    return int(re.search(r"Tests run: (\d+), Failures: 0, Errors: 0, Skipped: 0", report).group(1))


def project(folder, files):
    """Compiles the tests with everything there is; returns the command that runs them as Maven's plugin does, in a virtual machine."""
    if not ALL:
        place = folder / "everything"
        place.mkdir()
        pom(place, "".join(SDKS.values()) + CONTAINER
            + f"<dependency><groupId>org.junit.platform</groupId><artifactId>junit-platform-console</artifactId><version>{CONSOLE}</version></dependency>")
        run([*MAVEN, "dependency:build-classpath", "-Dmdep.outputFile=path"], place)
        ALL.append((place / "path").read_text().strip())
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    run(["javac", "-d", "classes", "-cp", ALL[0], *(n for n in files if n.endswith(".java"))], folder)
    return ["java", *QUICK, "-cp", f"{folder}/classes:{ALL[0]}", "org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--scan-classpath", f"{folder}/classes",
            "--include-classname", ".*", "--details", "tree"]


QUICK = ["-XX:TieredStopAtLevel=1", "-Xshare:auto"]
PARALLEL = ["--config", "junit.jupiter.execution.parallel.enabled=true", "--config", "junit.jupiter.execution.parallel.config.strategy=fixed",
            "--config", "junit.jupiter.execution.parallel.config.fixed.parallelism=4", "--config", "junit.jupiter.execution.parallel.config.fixed.max-pool-size=4"]


def passed(text):
    assert re.search(r"\[ +0 tests failed", text), text[-6000:]
    return int(re.search(r"\[ +(\d+) tests successful", text).group(1))


def test_readme(folder):
    """By Maven, with SDK 2 alone."""
    assert by_maven(folder, SDKS["2"], "OrdersTest", blocks(README, "java")[0]) == 2


def test_old_sdk(folder):
    """By Maven, with SDK 1 alone, from a field's annotation."""
    assert by_maven(folder, SDKS["1"], "OldTest", '''
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import org.junit.jupiter.api.*;
import io.github.dynalith.junit5.Dynalith;

class OldTest {
	@Dynalith AmazonDynamoDB client;

	@RepeatedTest(2)
	void test() {
		Assertions.assertEquals(0, client.listTables().getTableNames().size());
		client.createTable(new com.amazonaws.services.dynamodbv2.model.CreateTableRequest().withTableName("orders").withBillingMode("PAY_PER_REQUEST")
			.withKeySchema(new com.amazonaws.services.dynamodbv2.model.KeySchemaElement("id", "HASH"))
			.withAttributeDefinitions(new com.amazonaws.services.dynamodbv2.model.AttributeDefinition("id", "S")));
	}
}
''') == 2


def test_injects(folder):
    """All types, in fields, static fields, parents and parameters; nested classes; one instance for all tests; seeds from files."""
    (folder / "orders.yaml").write_text("Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: orders, BillingMode: PAY_PER_REQUEST, "
                                        "KeySchema: [{AttributeName: id, KeyType: HASH}], AttributeDefinitions: [{AttributeName: id, AttributeType: S}]}}}\n")
    command = project(folder, {"InjectTest.java": HEAD + SEED + '''
class Parent {
	DynamoDbAsyncClient async;
}

@Dynalith(files = "orders.yaml")
class InjectTest extends Parent {
	static DynamoDbClient fixed;
	DynamoDbClient client, same;
	DynamoDbEnhancedClient enhanced;
	DynamoDbEnhancedAsyncClient enhancedAsync;
	DynamoDbStreamsClient streams;
	AmazonDynamoDB old;
	DynamoDBMapper mapper;
	private Namespace tables;
	String other;

	@BeforeAll
	static void seed() {
		Orders.put(fixed, "seeded");
	}

	@BeforeEach
	void before(DynamoDbClient client) {
		Orders.put(client, "before");
	}

	@RepeatedTest(2)
	void all(AmazonDynamoDB parameter, Namespace names) {
		assertSame(client, same);
		assertSame(tables, names);
		assertSame(old, parameter);
		assertNull(other);
		assertNotNull(mapper);
		assertNotNull(enhancedAsync);
		assertEquals(2, Orders.count(client));
		assertEquals(2, async.scan(s -> s.tableName("orders").consistentRead(true)).join().count());
		assertEquals("ACTIVE", enhanced.table("orders", TableSchema.documentSchemaBuilder().addIndexPartitionKey(TableMetadata.primaryIndexName(), "id", AttributeValueType.S)
			.attributeConverterProviders(AttributeConverterProvider.defaultProvider()).build()).describeTable().table().tableStatusAsString());
		assertEquals(1, old.listTables().getTableNames().size());
		assertEquals(0, streams.listStreams().streams().size());
		Orders.put(client, "mine");
		tables.advanceClock(java.time.Duration.ofHours(1));
		tables.setFaults(Fault.on("Query").error("ThrottlingException"), Fault.on("GetItem", "Scan").table("orders").with("key", "a\\"b").latency(1));
		assertEquals(Arrays.asList(0, 0), tables.firedFaults());
	}

	@Nested
	class Inner {
		DynamoDbClient client;

		@Test
		void sees() {
			assertEquals(2, Orders.count(client));
			assertTrue(tables.control("GET", "faults", null).contains("[]"));
			assertThrows(DynalithException.class, () -> tables.control("GET", "nothing", null));
		}
	}
}

@Dynalith
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OnceTest {
	DynamoDbClient client;

	@BeforeAll
	void seed() {
		Orders.create(client);
	}

	@RepeatedTest(2)
	void alone() {
		assertEquals(0, Orders.count(client));
		Orders.put(client, "1");
	}
}
'''})
    assert passed(run(command, folder)) == 5
    assert passed(run([*command, *PARALLEL, "--config", "junit.jupiter.execution.parallel.mode.classes.default=concurrent"], folder)) == 5
    assert passed(run([*command, *PARALLEL, "--config", "junit.jupiter.execution.parallel.mode.default=concurrent"], folder)) == 5
    wrong = project(folder / "wrong", {"WrongTest.java": HEAD + "class WrongTest {\n\t@Dynalith String client;\n\t@Test void test() {}\n}\n"})
    assert "its type is none of io.github.dynalith.Namespace, software" in run(wrong, folder, status=1)


def test_in_process(folder):
    """All clients of SDK 2 on libdynalith: faults, which close connections and hold calls; the clock; files; rollback; what is refused."""
    if not HAS_LIBRARY:
        print("packages maven: no libdynalith in these packages, in process is not tested")
        return
    (folder / "orders.csv").write_text("id\nseeded\n")
    (folder / "orders.yaml").write_text("Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: orders, BillingMode: PAY_PER_REQUEST, "
                                        "KeySchema: [{AttributeName: id, KeyType: HASH}], AttributeDefinitions: [{AttributeName: id, AttributeType: S}]}}}\n")
    command = project(folder, {"InProcessTest.java": HEAD + SEED + '''
@Dynalith(inProcess = true, files = {"orders.yaml", "orders.csv"})
class InProcessTest {
	DynamoDbClient client;
	DynamoDbAsyncClient async;
	DynamoDbEnhancedClient enhanced;
	DynamoDbStreamsClient streams;
	Namespace tables;

	@RepeatedTest(2)
	void all() {
		assertEquals(1, Orders.count(client));
		Orders.put(client, "\u00fc mine");
		assertEquals(2, async.scan(s -> s.tableName("orders").consistentRead(true)).join().count());
		assertEquals("\u00fc mine", client.getItem(g -> g.tableName("orders").key(Collections.singletonMap("id", AttributeValue.fromS("\u00fc mine")))).item().get("id").s());
		assertEquals("ACTIVE", enhanced.table("orders", TableSchema.documentSchemaBuilder().addIndexPartitionKey(TableMetadata.primaryIndexName(), "id", AttributeValueType.S)
			.attributeConverterProviders(AttributeConverterProvider.defaultProvider()).build()).describeTable().table().tableStatusAsString());
		assertEquals(0, streams.listStreams().streams().size());
		tables.advanceClock(java.time.Duration.ofHours(1));
		assertEquals("us-east-1", tables.region());
		assertThrows(DynalithException.class, () -> tables.control("GET", "nothing", null));
	}

	@Test
	void errors() {
		ResourceNotFoundException missing = assertThrows(ResourceNotFoundException.class, () -> client.scan(s -> s.tableName("none")));
		assertEquals(52, missing.requestId().length());
		assertThrows(java.util.concurrent.CompletionException.class, () -> async.scan(s -> s.tableName("none")).join());
	}

	@Test
	void faults() {
		tables.setFaults(Fault.on("Scan").first(2).error("ThrottlingException"), Fault.on("PutItem").first(1).with("close", "before"));
		assertEquals(1, Orders.count(client));
		Orders.put(client, "again");
		assertEquals(Arrays.asList(2, 1), tables.firedFaults());
	}

	@Test
	void large() {
		Map<String, AttributeValue> item = new HashMap<>();
		item.put("id", AttributeValue.fromS("large"));
		item.put("text", AttributeValue.fromS(String.join("", Collections.nCopies(390_000, "x"))));
		client.putItem(p -> p.tableName("orders").item(item));
		assertEquals(item, async.getItem(g -> g.tableName("orders").key(Collections.singletonMap("id", AttributeValue.fromS("large")))).join().item());
	}
}

class AloneTest {
	private static DynamoDbClient client(InProcess server, String key) {
		return DynamoDbClient.builder().httpClient(server.httpClient()).region(software.amazon.awssdk.regions.Region.US_EAST_1).credentialsProvider(
			software.amazon.awssdk.auth.credentials.StaticCredentialsProvider.create(software.amazon.awssdk.auth.credentials.AwsBasicCredentials.create(key, "any"))).build();
	}

	@Test
	void closes() {
		InProcess server = InProcess.open("--auth=open"), other = InProcess.open();
		DynamoDbClient client = client(server, "000000000007");
		Orders.create(client);
		Orders.create(server.namespace(8).client(DynamoDbClient.builder()));
		assertEquals(1, server.namespace(7).client(DynamoDbClient.builder()).listTables().tableNames().size());
		assertEquals(0, client(server, "000000000009").listTables().tableNames().size());
		assertEquals(0, other.namespace(7).client(DynamoDbClient.builder()).listTables().tableNames().size());
		server.close();
		server.close();
		assertThrows(IllegalStateException.class, client::listTables);
		assertEquals(0, client(other, "000000000007").listTables().tableNames().size());
		other.close();
		assertTrue(assertThrows(DynalithException.class, () -> InProcess.open("--nothing=1")).getMessage().contains("nothing"));
	}

	@Test
	void manyThreads() {
		try (InProcess server = InProcess.open()) {
			DynamoDbAsyncClient client = server.namespace(1).asyncClient(DynamoDbAsyncClient.builder());
			Orders.create(server.namespace(1).client(DynamoDbClient.builder()));
			java.util.concurrent.CompletableFuture<?>[] puts = new java.util.concurrent.CompletableFuture<?>[200];
			for (int i = 0; i < puts.length; i++) {
				String id = "id " + i;
				puts[i] = client.putItem(p -> p.tableName("orders").item(Collections.singletonMap("id", AttributeValue.fromS(id))));
			}
			java.util.concurrent.CompletableFuture.allOf(puts).join();
			assertEquals(puts.length, client.scan(s -> s.tableName("orders")).join().count());
		}
	}
}
''', "UseTest.java": HEAD + '''
import software.amazon.awssdk.auth.credentials.*;
import software.amazon.awssdk.regions.Region;

class UseTest {
	@Test
	void use() {
''' + blocks(README, "java")[1].rstrip().removesuffix("}") + '''
			Orders.create(client);
			Orders.put(other, "1");
			assertEquals(1, async.scan(s -> s.tableName("orders")).join().count());
		}
	}
}
'''})
    assert passed(run(command, folder)) == 8
    assert passed(run([*command, *PARALLEL, "--config", "junit.jupiter.execution.parallel.mode.default=concurrent"], folder)) == 8
    old = project(folder / "old", {"OldTest.java": HEAD + "@Dynalith(inProcess = true)\nclass OldTest {\n\tAmazonDynamoDB client;\n\t@Test void test() {}\n}\n"})
    assert "SDK 1, which needs a server" in run(old, folder, status=1)


MANY = '''
@Dynalith
class Many%dTest {
	DynamoDbClient client;
	Namespace tables;

	@BeforeAll
	static void seed(DynamoDbClient client) {
		Orders.create(client);
	}

	@RepeatedTest(50)
	void alone() {
		assertEquals(0, Orders.count(client));
		Orders.put(client, "1");
		assertEquals(1, Orders.count(client));
	}
}
'''


def test_races(folder):
    """Two that read, then write without a condition: the order is found, with the clients' names; by ADD there is none."""
    command = project(folder, {"RacesTest.java": HEAD + """
import io.github.dynalith.junit5.RaceClients;

class RacesTest {
	static final Map<String, AttributeValue> KEY = Collections.singletonMap("pk", AttributeValue.fromS("page"));

	static int count(DynamoDbClient client) {
		AttributeValue n = client.getItem(g -> g.tableName("shop").key(KEY).consistentRead(true)).item().get("n");
		return n == null ? 0 : Integer.parseInt(n.n());
	}

	static void visit(Races.Run run, boolean isRight) {
		try (DynamoDbClient client = RaceClients.client(run)) {
			Map<String, AttributeValue> item = new HashMap<>(KEY);
			if (isRight) {
				client.updateItem(u -> u.tableName("shop").key(KEY).updateExpression("ADD n :one").expressionAttributeValues(Collections.singletonMap(":one", AttributeValue.fromN("1"))));
				return;
			}
			item.put("n", AttributeValue.fromN(Integer.toString(count(client) + 1)));
			client.putItem(p -> p.tableName("shop").item(item));
		}
	}

	static String race(boolean isRight) {
		return Races.with("--budget", "20").before(run -> {
			try (DynamoDbClient client = RaceClients.client(run)) {
				client.createTable(t -> t.tableName("shop").billingMode(BillingMode.PAY_PER_REQUEST)
					.keySchema(k -> k.attributeName("pk").keyType(KeyType.HASH)).attributeDefinitions(a -> a.attributeName("pk").attributeType("S")));
			}
		}).check(run -> {
			try (DynamoDbClient client = RaceClients.client(run)) {
				assertEquals(2, count(client), "two visits");
			}
		}).race(run -> visit(run, isRight), run -> {
			Thread.sleep(100);
			visit(run, isRight);
		});
	}

	@Test
	void right() {
		assertTrue(race(true).contains("None found"));
	}

	@Test
	void wrong() {
		String found = assertThrows(AssertionError.class, () -> race(false)).getMessage();
		for (String told : new String[] {"Found after", "is client1", "is client2", "two visits"})
			assertTrue(found.contains(told), found);
	}
}
"""})
    assert passed(run(command, folder)) == 2


def test_workers(folder):
    """200 tests of 4 classes in 4 threads: a class's tests one after another, and all at once."""
    command = project(folder, {"Many0Test.java": HEAD + SEED + "".join(MANY % i for i in range(4))})
    idle = project(folder / "idle", {"IdleTest.java": HEAD + "".join(f"class Idle{i}Test {{\n\t@RepeatedTest(50)\n\tvoid nothing() {{\n\t\tassertNotNull(DynamoDbClient.class);\n\t}}\n}}\n" for i in range(4))})
    for name, mode in (("by class", ["--config", "junit.jupiter.execution.parallel.mode.classes.default=concurrent"]),
                       ("all at once", ["--config", "junit.jupiter.execution.parallel.mode.default=concurrent"])):
        begin = time.monotonic()
        assert passed(run([*command, *PARALLEL, *mode], folder)) == 200
        whole = time.monotonic() - begin
        begin = time.monotonic()
        assert passed(run([*idle, *PARALLEL, *mode], folder)) == 200
        print(f"packages maven: 200 tests in 4 threads, {name}: {whole:.1f} s, {whole - (time.monotonic() - begin):.1f} s more than tests that do nothing")


def test_log(folder):
    """The log of a failed test is printed, and only of its while."""
    command = project(folder, {"LogTest.java": HEAD + '''
@Dynalith
@TestMethodOrder(MethodOrderer.MethodName.class)
class LogTest {
	@Test
	void a(DynamoDbClient client) {
		client.describeLimits();
	}

	@Test
	void b(DynamoDbClient client) {
		client.listTables();
		fail();
	}
}
'''})
    text = run([*command, "--config", "dynalith.options=--log-level debug"], folder, status=1)
    log = text[text.index("log of dynalith during b("):]
    assert "ListTables" in log and "DescribeLimits" not in log, log


def test_killed(folder):
    waits = HEAD + '''
@Dynalith
public class WaitsTest {
	@Test
	public void waits(Namespace tables) throws Exception {
		new java.io.File("is-running").createNewFile();
		Thread.sleep(600_000);
	}
}
'''
    killed_leaves_none(project(folder, {"WaitsTest.java": waits}), folder)


def test_start(folder):
    """From the call to the first answer of the API, in virtual machines of their own; the first of all unpacks the server."""
    project(folder, {"Start.java": '''
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import io.github.dynalith.DynalithServer;

class Start {
	public static void main(String[] options) throws Exception {
		long begin = System.nanoTime();
		DynalithServer server = DynalithServer.start(options);
		try (Socket socket = new Socket(server.url().getHost(), server.url().getPort())) {
			socket.getOutputStream().write(("POST / HTTP/1.0\\r\\nX-Amz-Target: DynamoDB_20120810.ListTables\\r\\nContent-Type: application/x-amz-json-1.0\\r\\n"
				+ "Content-Length: 2\\r\\n\\r\\n{}").getBytes(StandardCharsets.US_ASCII));
			byte[] answer = new byte[12];
			int n = socket.getInputStream().read(answer);
			long end = System.nanoTime();
			System.out.println(new String(answer, 9, n - 9, StandardCharsets.US_ASCII) + " " + (end - begin) / 1e6);
		}
		server.close();
	}
}
'''})
    answers = [run(["java", "-cp", f"classes:{ALL[0]}", "Start", "--auth=off"], folder, XDG_CACHE_HOME=str(folder)).split() for _ in range(12)]
    assert all(status == "200" for status, _ in answers)
    times = [float(t) for _, t in answers]
    print(f"packages maven: start to first answer, median {sorted(times[1:])[5]:.1f} ms; with unpacking {times[0]:.1f} ms")
    assert "--no-such-option" in run(["java", "-cp", f"classes:{ALL[0]}", "Start", "--no-such-option"], folder, status=1)
    without = ":".join(p for p in ALL[0].split(":") if not re.search(r"dynalith-server-.*-(linux|osx)", p))
    text = run([shutil.which("java"), "-cp", f"classes:{without}", "Start"], folder, status=1, PATH="/nowhere")
    assert "no jar dynalith-server with the classifier linux-" in text, text


def test_container(folder):
    """The container's settings, and the README's use of it compiled: none is started."""
    use = blocks(README, "java")[2]
    command = project(folder, {"ContainerTest.java": HEAD + '''
import software.amazon.awssdk.auth.credentials.*;
import software.amazon.awssdk.regions.Region;
import io.github.dynalith.testcontainers.DynalithContainer;

class ContainerTest {
	void use() {
''' + use + '''
	}

	@Test
	void settings() {
		DynalithContainer container = new DynalithContainer("dynalith").withOptions("--auth", "off");
		assertEquals(Arrays.asList(8000), container.getExposedPorts());
		assertEquals("true", container.getEnvMap().get("DYNALITH_IN_MEMORY"));
		assertEquals(Arrays.asList("--host", "0.0.0.0", "--port", "8000", "--auth", "off"), Arrays.asList(container.getCommandParts()));
	}
}
'''})
    text = run(command, folder)
    assert passed(text) == 1


def main():
    global REPOSITORY, HAS_LIBRARY
    REPOSITORY = pathlib.Path(sys.argv[1]).resolve()
    HAS_LIBRARY = any("libdynalith" in name for jar in REPOSITORY.rglob("dynalith-server-*-*.jar") for name in zipfile.ZipFile(jar).namelist())
    shutil.rmtree(LOCAL / "io/github/dynalith", ignore_errors=True)
    tests = Tests("maven")
    for test in (test_readme, test_old_sdk, test_injects, test_races, test_in_process, test_workers, test_log, test_killed, test_start, test_container):
        tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
