package dynalith;

import static dynalith.Main.CLIENT;
import static dynalith.Main.TESTS;
import static dynalith.Main.equal;
import static dynalith.Main.key;
import static dynalith.Main.n;
import static dynalith.Main.s;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.*;

/** The patterns of a single table, by the plain client. */
final class Patterns {
	private Patterns() {
	}

	static void add() {
		TESTS.put("create and describe", Patterns::createAndDescribe);
		TESTS.put("every type", Patterns::everyType);
		TESTS.put("item collection", Patterns::itemCollection);
		TESTS.put("compound entity", Patterns::compoundEntity);
		TESTS.put("global and sparse index", Patterns::indexes);
		TESTS.put("pagination", Patterns::pagination);
		TESTS.put("batches", Patterns::batches);
		TESTS.put("counters, sets, lists", Patterns::countersSetsLists);
		TESTS.put("idempotent transaction", Patterns::idempotentTransaction);
		TESTS.put("capacity", Patterns::capacity);
	}

	static List<KeySchemaElement> keys(String hash, String... range) {
		List<KeySchemaElement> schema = new ArrayList<>(List.of(KeySchemaElement.builder().attributeName(hash).keyType(KeyType.HASH).build()));
		for (String name : range)
			schema.add(KeySchemaElement.builder().attributeName(name).keyType(KeyType.RANGE).build());
		return schema;
	}

	static Consumer<CreateTableRequest.Builder> app(String name) {
		List<AttributeDefinition> attributes = Stream.of("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "at")
			.map(a -> AttributeDefinition.builder().attributeName(a).attributeType(ScalarAttributeType.S).build()).toList();
		return t -> t.tableName(name).billingMode(BillingMode.PAY_PER_REQUEST).keySchema(keys("PK", "SK")).attributeDefinitions(attributes)
			.globalSecondaryIndexes(
				g -> g.indexName("GSI1").keySchema(keys("GSI1PK", "GSI1SK")).projection(p -> p.projectionType(ProjectionType.ALL)),
				g -> g.indexName("GSI2").keySchema(keys("GSI2PK")).projection(p -> p.projectionType(ProjectionType.KEYS_ONLY)))
			.localSecondaryIndexes(l -> l.indexName("by-time").keySchema(keys("PK", "at")).projection(p -> p.projectionType(ProjectionType.KEYS_ONLY)));
	}

	private static void createAndDescribe() {
		CLIENT.createTable(app("app"));
		TableDescription table = CLIENT.waiter().waitUntilTableExists(d -> d.tableName("app")).matched().response().orElseThrow().table();
		equal(table.tableStatus(), TableStatus.ACTIVE);
		equal(table.globalSecondaryIndexes().size(), 2);
		equal(Duration.between(table.creationDateTime(), Instant.now()).abs().toMinutes(), 0L);
		equal(CLIENT.listTables().tableNames(), List.of("app"));
	}

	static void put(Map<String, AttributeValue> item) {
		CLIENT.putItem(p -> p.tableName("app").item(item));
	}

	static Map<String, AttributeValue> item(String pk, String sk, Object... more) {
		Map<String, AttributeValue> item = new HashMap<>(key(pk, sk));
		for (int i = 0; i < more.length; i += 2)
			item.put((String)more[i], (AttributeValue)more[i + 1]);
		return item;
	}

	static Map<String, AttributeValue> get(String pk, String sk) {
		return CLIENT.getItem(g -> g.tableName("app").key(key(pk, sk)).consistentRead(true)).item();
	}

	private static void everyType() {
		var item = item("types", "1", "s", s("é\0\uD83D\uDE00"), "n", n("12345678901234567890123456789012345678"), "t", AttributeValue.fromBool(true),
			"nul", AttributeValue.fromNul(true), "l", AttributeValue.fromL(List.of(n(1), s("a"))), "b", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[] {0, 1, -1})),
			"m", AttributeValue.fromM(Map.of("deep", AttributeValue.fromM(Map.of()))), "empty", s(""), "ss", AttributeValue.fromSs(List.of("a")),
			"ns", AttributeValue.fromNs(List.of("-1.5")), "bs", AttributeValue.fromBs(List.of(SdkBytes.fromUtf8String("x"))));
		put(item);
		equal(get("types", "1"), item);
	}

	private static List<String> column(List<Map<String, AttributeValue>> items, String name) {
		return items.stream().map(i -> i.get(name).s()).toList();
	}

	private static void itemCollection() {
		for (String sk : List.of("PROFILE", "ORDER#2026-03-09#C3", "ORDER#2026-01-15#A1", "ORDER#2026-02-01#B2"))
			put(key("CUSTOMER#42", sk));
		var orders = CLIENT.query(q -> q.tableName("app").keyConditionExpression("PK = :p AND begins_with(SK, :s)")
			.expressionAttributeValues(Map.of(":p", s("CUSTOMER#42"), ":s", s("ORDER#"))));
		equal(column(orders.items(), "SK"), List.of("ORDER#2026-01-15#A1", "ORDER#2026-02-01#B2", "ORDER#2026-03-09#C3"));
		var newest = CLIENT.query(q -> q.tableName("app").keyConditionExpression("PK = :p AND SK BETWEEN :a AND :b").scanIndexForward(false).limit(1)
			.expressionAttributeValues(Map.of(":p", s("CUSTOMER#42"), ":a", s("ORDER#2026-01"), ":b", s("ORDER#2026-03"))));
		equal(column(newest.items(), "SK"), List.of("ORDER#2026-02-01#B2"));
		equal(newest.lastEvaluatedKey(), key("CUSTOMER#42", "ORDER#2026-02-01#B2"));
	}

	private static void compoundEntity() {
		List<String> rows = List.of("ORDER#1", "ORDER#1#LINE#1", "ORDER#1#PAYMENT#1");
		CLIENT.transactWriteItems(t -> t.transactItems(rows.stream()
			.map(sk -> TransactWriteItem.builder().put(p -> p.tableName("app").item(key("O", sk))).build()).toList()));
		var found = CLIENT.query(q -> q.tableName("app").keyConditionExpression("PK = :p").expressionAttributeValues(Map.of(":p", s("O"))));
		equal(column(found.items(), "SK"), rows);
		var read = CLIENT.transactGetItems(t -> t.transactItems(g -> g.get(i -> i.tableName("app").key(key("O", "ORDER#1"))),
			g -> g.get(i -> i.tableName("app").key(key("O", "none"))))).responses();
		equal(read.get(0).item(), key("O", "ORDER#1"));
		equal(read.get(1).hasItem(), false);
	}

	private static void indexes() {
		put(item("ORDER#7", "META", "GSI1PK", s("STATUS#SHIPPED"), "GSI1SK", s("2026-01-02"), "GSI2PK", s("OPEN")));
		put(item("ORDER#8", "META", "GSI1PK", s("STATUS#SHIPPED"), "GSI1SK", s("2026-01-01")));
		var shipped = CLIENT.query(q -> q.tableName("app").indexName("GSI1").keyConditionExpression("GSI1PK = :p")
			.expressionAttributeValues(Map.of(":p", s("STATUS#SHIPPED"))));
		equal(column(shipped.items(), "PK"), List.of("ORDER#8", "ORDER#7"));
		Consumer<QueryRequest.Builder> open = q -> q.tableName("app").indexName("GSI2").keyConditionExpression("GSI2PK = :p")
			.expressionAttributeValues(Map.of(":p", s("OPEN")));
		equal(CLIENT.query(open).items(), List.of(item("ORDER#7", "META", "GSI2PK", s("OPEN"))));
		CLIENT.updateItem(u -> u.tableName("app").key(key("ORDER#7", "META")).updateExpression("REMOVE GSI2PK"));
		equal(CLIENT.query(open).count(), 0);
	}

	private static void pagination() {
		for (int i = 0; i < 30; i++)
			put(item("PAGES", String.format("%03d", i), "GSI1PK", s("PAGES"), "GSI1SK", s("same"), "at", s("2026"), "n", n(i)));
		for (String index : new String[] {null, "GSI1", "by-time"}) {
			Set<String> found = new HashSet<>();
			int pages = 0;
			for (var page : CLIENT.queryPaginator(q -> q.tableName("app").indexName(index).limit(7).expressionAttributeValues(Map.of(":p", s("PAGES")))
					.keyConditionExpression("GSI1".equals(index) ? "GSI1PK = :p" : "PK = :p"))) {
				found.addAll(column(page.items(), "SK"));
				pages++;
			}
			equal(List.of(found.size(), pages), List.of(30, 5));
		}
		var filtered = CLIENT.query(q -> q.tableName("app").keyConditionExpression("PK = :p").filterExpression("n > :n").limit(2)
			.expressionAttributeValues(Map.of(":p", s("PAGES"), ":n", n(20))));
		equal(List.of(filtered.count(), filtered.scannedCount()), List.of(0, 2));
		equal(filtered.lastEvaluatedKey(), key("PAGES", "001"));
		int total = CLIENT.scanPaginator(q -> q.tableName("app").limit(9)).stream().mapToInt(ScanResponse::count).sum();
		int segments = Stream.of(0, 1, 2, 3).parallel().mapToInt(i -> CLIENT.scan(q -> q.tableName("app").segment(i).totalSegments(4)).count()).sum();
		equal(segments, total);
	}

	private static void batches() {
		List<Map<String, AttributeValue>> items = Stream.iterate(0, i -> i + 1).limit(25).map(i -> key("BATCH", String.format("%02d", i))).toList();
		var written = CLIENT.batchWriteItem(b -> b.requestItems(Map.of("app",
			items.stream().map(i -> WriteRequest.builder().putRequest(p -> p.item(i)).build()).toList())));
		equal(written.unprocessedItems(), Map.of());
		var read = CLIENT.batchGetItem(b -> b.requestItems(Map.of("app", KeysAndAttributes.builder().keys(items).build())));
		equal(new HashSet<>(read.responses().get("app")), new HashSet<>(items));
		equal(read.unprocessedKeys(), Map.of());
	}

	private static void countersSetsLists() {
		put(item("C", "1", "a", AttributeValue.fromM(Map.of("b", AttributeValue.fromL(List.of(n(0), AttributeValue.fromM(Map.of("c", s("old")))))))));
		var out = CLIENT.updateItem(u -> u.tableName("app").key(key("C", "1")).returnValues(ReturnValue.ALL_NEW).expressionAttributeNames(Map.of("#a", "a"))
			.updateExpression("ADD visits :one, tags :t SET #a.b[1].c = :c, seen = list_append(if_not_exists(seen, :empty), :l)")
			.expressionAttributeValues(Map.of(":one", n(1), ":t", AttributeValue.fromSs(List.of("x", "y")), ":c", s("new"),
				":empty", AttributeValue.fromL(List.of()), ":l", AttributeValue.fromL(List.of(s("z")))))).attributes();
		equal(out.get("visits"), n(1));
		equal(out.get("tags").ss().stream().collect(Collectors.toSet()), Set.of("x", "y"));
		equal(out.get("a").m().get("b").l().get(1).m(), Map.of("c", s("new")));
		equal(out.get("seen").l(), List.of(s("z")));
	}

	static TransactWriteItemsResponse addOnce(int quantity) {
		return CLIENT.transactWriteItems(t -> t.clientRequestToken("token-1").returnConsumedCapacity(ReturnConsumedCapacity.TOTAL)
			.transactItems(i -> i.update(u -> u.tableName("app").key(key("I", "1")).updateExpression("ADD n :q")
				.expressionAttributeValues(Map.of(":q", n(quantity))))));
	}

	private static void idempotentTransaction() {
		addOnce(1);
		equal(addOnce(1).consumedCapacity().get(0).readCapacityUnits(), 2.0);
		equal(get("I", "1").get("n"), n(1));
	}

	private static void capacity() {
		var out = CLIENT.putItem(p -> p.tableName("app").returnConsumedCapacity(ReturnConsumedCapacity.INDEXES)
			.item(item("CAP", "1", "GSI1PK", s("CAP"), "GSI1SK", s("1"), "body", s("x".repeat(1500))))).consumedCapacity();
		equal(List.of(out.capacityUnits(), out.table().capacityUnits(), out.globalSecondaryIndexes().get("GSI1").capacityUnits()), List.of(4.0, 2.0, 2.0));
	}
}
