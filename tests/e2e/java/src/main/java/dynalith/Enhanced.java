package dynalith;

import static dynalith.Main.CLIENT;
import static dynalith.Main.TESTS;
import static dynalith.Main.equal;
import static dynalith.Main.fails;
import static dynalith.Main.n;

import java.util.List;
import java.util.Map;
import java.util.Set;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Expression;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.extensions.annotations.DynamoDbVersionAttribute;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondaryPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSortKey;
import software.amazon.awssdk.enhanced.dynamodb.model.Page;
import software.amazon.awssdk.enhanced.dynamodb.model.PutItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.enhanced.dynamodb.model.WriteBatch;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/** The enhanced client: beans, its own table, versions kept by its extension. */
final class Enhanced {
	private static final DynamoDbEnhancedClient ENHANCED = DynamoDbEnhancedClient.builder().dynamoDbClient(CLIENT).build();
	private static final DynamoDbTable<Order> ORDERS = ENHANCED.table("orders", TableSchema.fromBean(Order.class));

	private Enhanced() {
	}

	@DynamoDbBean
	public static class Order {
		private String pk;
		private String sk;
		private String status;
		private Integer total;
		private Long version;
		private List<String> lines;
		private Set<String> tags;
		private Map<String, Integer> counts;

		static Order of(String pk, String sk, String status, int total) {
			Order order = new Order();
			order.pk = pk;
			order.sk = sk;
			order.status = status;
			order.total = total;
			return order;
		}

		@DynamoDbPartitionKey
		public String getPk() { return pk; }
		public void setPk(String value) { pk = value; }
		@DynamoDbSortKey
		public String getSk() { return sk; }
		public void setSk(String value) { sk = value; }
		@DynamoDbSecondaryPartitionKey(indexNames = "by-status")
		public String getStatus() { return status; }
		public void setStatus(String value) { status = value; }
		public Integer getTotal() { return total; }
		public void setTotal(Integer value) { total = value; }
		@DynamoDbVersionAttribute
		public Long getVersion() { return version; }
		public void setVersion(Long value) { version = value; }
		public List<String> getLines() { return lines; }
		public void setLines(List<String> value) { lines = value; }
		public Set<String> getTags() { return tags; }
		public void setTags(Set<String> value) { tags = value; }
		public Map<String, Integer> getCounts() { return counts; }
		public void setCounts(Map<String, Integer> value) { counts = value; }
	}

	static void add() {
		TESTS.put("enhanced: a table from a bean", Enhanced::createTable);
		TESTS.put("enhanced: write, read, query, index", Enhanced::readAndWrite);
		TESTS.put("enhanced: optimistic locking", Enhanced::versions);
		TESTS.put("enhanced: batches and transactions", Enhanced::batchesAndTransactions);
	}

	private static Key at(String pk, String sk) {
		return Key.builder().partitionValue(pk).sortValue(sk).build();
	}

	private static void createTable() {
		ORDERS.createTable();
		CLIENT.waiter().waitUntilTableExists(d -> d.tableName("orders"));
		equal(ORDERS.describeTable().table().globalSecondaryIndexes().get(0).indexName(), "by-status");
	}

	private static void readAndWrite() {
		Order first = Order.of("C#1", "ORDER#1", "OPEN", 7);
		first.setLines(List.of("a", "b"));
		first.setTags(Set.of("x", "y"));
		first.setCounts(Map.of("k", 3));
		ORDERS.putItem(first);
		ORDERS.putItem(Order.of("C#1", "ORDER#2", "SHIPPED", 8));
		ORDERS.putItem(Order.of("C#1", "PROFILE", null, 0));
		Order read = ORDERS.getItem(at("C#1", "ORDER#1"));
		equal(List.of(read.getTotal(), read.getLines(), read.getTags(), read.getCounts(), read.getVersion()),
			List.of(7, List.of("a", "b"), Set.of("x", "y"), Map.of("k", 3), 1L));
		var orders = ORDERS.query(q -> q.queryConditional(QueryConditional.sortBeginsWith(at("C#1", "ORDER#"))).limit(1)).items();
		equal(orders.stream().map(Order::getSk).toList(), List.of("ORDER#1", "ORDER#2"));
		var open = ORDERS.index("by-status").query(QueryConditional.keyEqualTo(k -> k.partitionValue("SHIPPED")));
		equal(open.stream().map(Page::items).flatMap(List::stream).map(Order::getTotal).toList(), List.of(8));
		equal(ORDERS.scan(s -> s.filterExpression(Expression.builder().expression("#t > :n").putExpressionName("#t", "total")
			.putExpressionValue(":n", n(7)).build())).items().stream().count(), 1L);
		equal(ORDERS.deleteItem(at("C#1", "PROFILE")).getTotal(), 0);
		equal(ORDERS.getItem(at("C#1", "PROFILE")), null);
	}

	private static void versions() throws Exception {
		ORDERS.putItem(Order.of("V", "1", "OPEN", 1));
		Order mine = ORDERS.getItem(at("V", "1"));
		Order theirs = ORDERS.getItem(at("V", "1"));
		theirs.setTotal(2);
		equal(ORDERS.updateItem(theirs).getVersion(), 2L);
		mine.setTotal(3);
		fails(ConditionalCheckFailedException.class, () -> ORDERS.updateItem(mine));
		equal(ORDERS.getItem(at("V", "1")).getTotal(), 2);
		fails(ConditionalCheckFailedException.class, () -> ORDERS.putItem(PutItemEnhancedRequest.builder(Order.class).item(Order.of("V", "1", "OPEN", 9))
			.conditionExpression(Expression.builder().expression("attribute_not_exists(pk)").build()).build()));
	}

	private static void batchesAndTransactions() throws Exception {
		var batch = WriteBatch.builder(Order.class).mappedTableResource(ORDERS);
		for (int i = 0; i < 20; i++)
			batch.addDeleteItem(at("B", String.format("%02d", i)));
		equal(ENHANCED.batchWriteItem(b -> b.writeBatches(batch.build())).unprocessedDeleteItemsForTable(ORDERS), List.of());
		ENHANCED.transactWriteItems(t -> t.addPutItem(ORDERS, Order.of("T", "1", "OPEN", 1)).addPutItem(ORDERS, Order.of("T", "2", "OPEN", 2)));
		var both = ENHANCED.transactGetItems(t -> t.addGetItem(ORDERS, at("T", "1")).addGetItem(ORDERS, at("T", "2")));
		equal(both.stream().map(d -> d.getItem(ORDERS).getTotal()).toList(), List.of(1, 2));
		// The version of an item that is there already: the put of a new one is refused.
		var cancelled = fails(TransactionCanceledException.class, () -> ENHANCED.transactWriteItems(t -> t.addPutItem(ORDERS, Order.of("T", "3", "OPEN", 3))
			.addPutItem(ORDERS, Order.of("T", "1", "OPEN", 4))));
		equal(cancelled.cancellationReasons().stream().map(r -> r.code()).toList(), List.of("None", "ConditionalCheckFailed"));
		equal(ORDERS.getItem(at("T", "3")), null);
	}
}
