package dynalith;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.extensions.annotations.DynamoDbVersionAttribute;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.Update;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/** Races that programs have had, each with a twin that has none: Races NAME wrong|right (tests/races/run) */
public final class Races {
	static final DynamoDbClient CLIENT = DynamoDbClient.create();
	static final String SHOP = "shop";
	static boolean isRight;

	static AttributeValue s(String value) {
		return AttributeValue.fromS(value);
	}

	static AttributeValue n(long value) {
		return AttributeValue.fromN(Long.toString(value));
	}

	static Map<String, AttributeValue> key(String pk) {
		return Map.of("pk", s(pk));
	}

	static Map<String, AttributeValue> with(String pk, String name, AttributeValue value) {
		return Map.of("pk", s(pk), name, value);
	}

	static void put(Map<String, AttributeValue> item) {
		CLIENT.putItem(r -> r.tableName(SHOP).item(item));
	}

	static long number(String pk, String name) {
		var item = CLIENT.getItem(r -> r.tableName(SHOP).key(key(pk)).consistentRead(true)).item();
		return item.containsKey(name) ? Long.parseLong(item.get(name).n()) : 0;
	}

	static void check(boolean isFine, String what) {
		if (!isFine) {
			System.out.println(what);
			System.exit(1);
		}
	}

	/** Two at a time, the second a little later, as two users do. */
	static void both(Callable<?> one, Callable<?> other) {
		CompletableFuture.allOf(started(one, 0), started(other, 250)).join();
	}

	static CompletableFuture<Void> started(Callable<?> work, int later) {
		return CompletableFuture.runAsync(() -> {
			try {
				Thread.sleep(later);
				work.call();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		}, task -> new Thread(task).start());
	}

	/** With --ttl: a session is taken for valid because its item is still there. */
	static void session() {
		CLIENT.updateTimeToLive(r -> r.tableName(SHOP).timeToLiveSpecification(t -> t.attributeName("expires").enabled(true)));
		put(with("session", "expires", n(Instant.now().getEpochSecond() - 60)));
		var found = CLIENT.getItem(r -> r.tableName(SHOP).key(key("session"))).item();
		boolean isValid = found.containsKey("expires")
			&& (!isRight || Long.parseLong(found.get("expires").n()) > Instant.now().getEpochSecond());
		check(!isValid, "the session has expired, and is taken for valid");
	}

	/** With --lag: an index is asked right behind a write. */
	static void index() throws InterruptedException {
		put(with("order", "email", s("a@example.com")));
		int found = 0;
		for (int tries = 0; found == 0 && tries < (isRight ? 20 : 1); tries++) {
			Thread.sleep(5L * tries);
			found = CLIENT.query(r -> r.tableName(SHOP).indexName("email").keyConditionExpression("email = :e")
				.expressionAttributeValues(Map.of(":e", s("a@example.com")))).count();
		}
		check(found == 1, "the order was written, and is not found");
	}

	/** With --lag: a consumer takes a page without records for the end of the stream. */
	static void consumer() throws InterruptedException {
		try (var streams = DynamoDbStreamsClient.create()) {
			String arn = CLIENT.describeTable(r -> r.tableName(SHOP)).table().latestStreamArn();
			String shard = streams.describeStream(r -> r.streamArn(arn)).streamDescription().shards().get(0).shardId();
			put(key("a"));
			put(key("b"));
			String[] at = {streams.getShardIterator(r -> r.streamArn(arn).shardId(shard)
				.shardIteratorType(ShardIteratorType.TRIM_HORIZON)).shardIterator()};
			int seen = 0;
			for (int pages = 0; seen < 2 && pages < 20; pages++) {
				Thread.sleep(5L * pages);
				GetRecordsResponse page = streams.getRecords(r -> r.shardIterator(at[0]).limit(1));
				seen += page.records().size();
				at[0] = page.nextShardIterator();
				if (!isRight && page.records().isEmpty())
					break;
			}
			check(seen == 2, "two items were written, and the consumer has seen " + seen);
		}
	}

	static TransactWriteItem balance(String pk, long was, long is) {
		var values = new HashMap<>(Map.of(":is", n(is)));
		var update = Update.builder().tableName(SHOP).key(key(pk)).updateExpression("SET balance = :is");
		if (isRight) {
			values.put(":was", n(was));
			update.conditionExpression("balance = :was");
		}
		return TransactWriteItem.builder().update(update.expressionAttributeValues(values).build()).build();
	}

	/** A transaction writes sums of what was read before it. */
	static void transfer() {
		put(with("ann", "balance", n(100)));
		put(with("bob", "balance", n(100)));
		Callable<Void> pay = () -> {
			for (int tries = 0; tries < 5; tries++) {
				long ann = number("ann", "balance"), bob = number("bob", "balance");
				try {
					CLIENT.transactWriteItems(r -> r.transactItems(balance("ann", ann, ann - 10), balance("bob", bob, bob + 10)));
					return null;
				} catch (TransactionCanceledException e) {
					continue;
				}
			}
			return null;
		};
		both(pay, pay);
		check(number("ann", "balance") == 80 && number("bob", "balance") == 120, "two payments, and one is lost");
	}

	@DynamoDbBean
	public static class Profile {
		private String pk, name, city;

		@DynamoDbPartitionKey
		public String getPk() {
			return pk;
		}

		public void setPk(String value) {
			pk = value;
		}

		public String getName() {
			return name;
		}

		public void setName(String value) {
			name = value;
		}

		public String getCity() {
			return city;
		}

		public void setCity(String value) {
			city = value;
		}
	}

	@DynamoDbBean
	public static class VersionedProfile extends Profile {
		private Integer version;

		@DynamoDbVersionAttribute
		public Integer getVersion() {
			return version;
		}

		public void setVersion(Integer value) {
			version = value;
		}
	}

	interface Change<T> {
		void on(T profile);
	}

	static <T> void change(DynamoDbTable<T> table, Change<T> change) {
		for (int tries = 0; tries < 5; tries++) {
			T profile = table.getItem(r -> r.key(Key.builder().partitionValue("profile").build()).consistentRead(true));
			change.on(profile);
			try {
				table.updateItem(profile);
				return;
			} catch (ConditionalCheckFailedException e) {
				continue;
			}
		}
	}

	static <T extends Profile> void change(Class<T> kind, T first) {
		DynamoDbTable<T> table = DynamoDbEnhancedClient.builder().dynamoDbClient(CLIENT).build().table(SHOP, TableSchema.fromBean(kind));
		first.setPk("profile");
		table.putItem(first);
		change(table, (T profile) -> profile.setCity("Rome")); // what follows finds its classes loaded
		both(() -> {
			change(table, (T profile) -> profile.setName("Ann"));
			return null;
		}, () -> {
			change(table, (T profile) -> profile.setCity("Bern"));
			return null;
		});
		T last = table.getItem(r -> r.key(Key.builder().partitionValue("profile").build()).consistentRead(true));
		check("Ann".equals(last.getName()) && "Bern".equals(last.getCity()), "two attributes were changed, and one change is lost");
	}

	/** The enhanced client writes the whole bean, with what another one has changed since. */
	static void bean() {
		if (isRight)
			change(VersionedProfile.class, new VersionedProfile());
		else
			change(Profile.class, new Profile());
	}

	public static void main(String[] words) throws Exception {
		isRight = words[1].equals("right");
		CLIENT.createTable(r -> r.tableName(SHOP).billingMode(BillingMode.PAY_PER_REQUEST)
			.keySchema(KeySchemaElement.builder().attributeName("pk").keyType(KeyType.HASH).build())
			.attributeDefinitions(List.of("pk", "email").stream().map(name -> AttributeDefinition.builder().attributeName(name)
				.attributeType(ScalarAttributeType.S).build()).toList())
			.globalSecondaryIndexes(i -> i.indexName("email").projection(p -> p.projectionType("ALL"))
				.keySchema(KeySchemaElement.builder().attributeName("email").keyType(KeyType.HASH).build()))
			.streamSpecification(t -> t.streamEnabled(true).streamViewType("KEYS_ONLY")));
		switch (words[0]) {
		case "session" -> session();
		case "index" -> index();
		case "consumer" -> consumer();
		case "transfer" -> transfer();
		case "bean" -> bean();
		default -> throw new IllegalArgumentException(words[0]);
		}
		System.exit(0);
	}
}
