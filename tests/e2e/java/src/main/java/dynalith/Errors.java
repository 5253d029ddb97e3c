package dynalith;

import static dynalith.Main.CLIENT;
import static dynalith.Main.TESTS;
import static dynalith.Main.equal;
import static dynalith.Main.fails;
import static dynalith.Main.key;
import static dynalith.Main.n;
import static dynalith.Main.requests;
import static dynalith.Main.s;

import java.net.URI;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.*;

/** How errors arrive: each as the SDK's class, with what it carries, and none tried again. */
final class Errors {
	private Errors() {
	}

	static void add() {
		TESTS.put("a missing table", Errors::missingTable);
		TESTS.put("a table that is there", () -> fails(ResourceInUseException.class, () -> CLIENT.createTable(Patterns.app("app"))));
		TESTS.put("a failed condition with its item", Errors::conditionWithItem);
		TESTS.put("a cancelled transaction", Errors::cancelledTransaction);
		TESTS.put("a token used for another request", () -> fails(IdempotentParameterMismatchException.class, () -> Patterns.addOnce(2)));
		TESTS.put("a validation error", Errors::validation);
		TESTS.put("mistakes are not tried again", Errors::notRetried);
		TESTS.put("signatures", Errors::signatures);
	}

	private static void missingTable() throws Exception {
		var error = fails(ResourceNotFoundException.class, () -> CLIENT.describeTable(d -> d.tableName("absent")));
		equal(error.awsErrorDetails().errorMessage(), "Requested resource not found: Table: absent not found");
		equal(error.awsErrorDetails().errorCode(), "ResourceNotFoundException");
		equal(List.of(error.statusCode(), error.requestId() == null), List.of(400, false));
	}

	private static void conditionWithItem() throws Exception {
		var there = Patterns.item("COND", "1", "owner", s("ada"));
		Patterns.put(there);
		var plain = fails(ConditionalCheckFailedException.class, () -> CLIENT.deleteItem(d -> d.tableName("app").key(key("COND", "1"))
			.conditionExpression("attribute_not_exists(PK)")));
		equal(plain.awsErrorDetails().errorMessage(), "The conditional request failed");
		equal(plain.hasItem(), false);
		var full = fails(ConditionalCheckFailedException.class, () -> CLIENT.putItem(p -> p.tableName("app").item(key("COND", "1"))
			.conditionExpression("attribute_not_exists(PK)").returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)));
		equal(full.item(), there);
	}

	private static void cancelledTransaction() throws Exception {
		Patterns.put(Patterns.item("PRODUCT#1", "STOCK", "stock", n(2)));
		var error = fails(TransactionCanceledException.class, () -> CLIENT.transactWriteItems(t -> t.transactItems(
			i -> i.put(p -> p.tableName("app").item(key("SALE#2", "META"))),
			i -> i.update(u -> u.tableName("app").key(key("PRODUCT#1", "STOCK")).updateExpression("SET stock = stock - :q").conditionExpression("stock >= :q")
				.expressionAttributeValues(Map.of(":q", n(3))).returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)))));
		equal(error.awsErrorDetails().errorMessage(),
			"Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]");
		var reasons = error.cancellationReasons();
		equal(reasons.stream().map(CancellationReason::code).toList(), List.of("None", "ConditionalCheckFailed"));
		equal(reasons.get(0).message(), null);
		equal(reasons.get(1).message(), "The conditional request failed");
		equal(reasons.get(1).item().get("stock"), n(2));
		equal(Patterns.get("SALE#2", "META"), Map.of());
	}

	// ValidationException has no class of its own in this SDK: it comes as the general one.
	private static void validation() throws Exception {
		var error = fails(DynamoDbException.class, () -> CLIENT.getItem(g -> g.tableName("app").key(Map.of("PK", s("x")))));
		equal(error.awsErrorDetails().errorCode(), "ValidationException");
		equal(error.awsErrorDetails().errorMessage(), "The provided key element does not match the schema");
	}

	private static ListTablesResponse listSignedBy(String secret) {
		try (var client = DynamoDbClient.builder().endpointOverride(URI.create(System.getenv("DYNALITH_VERIFY_URL")))
				.credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("local", secret))).build()) {
			return client.listTables(l -> l.exclusiveStartTableName("a-b_c.d"));
		}
	}

	private static void signatures() throws Exception {
		equal(listSignedBy("local").tableNames(), List.of());
		equal(fails(DynamoDbException.class, () -> listSignedBy("wrong")).awsErrorDetails().errorCode(), "InvalidSignatureException");
	}

	private static void notRetried() throws Exception {
		int before = requests();
		validation();
		missingTable();
		fails(ConditionalCheckFailedException.class, () -> CLIENT.deleteItem(d -> d.tableName("app").key(key("none", "none"))
			.conditionExpression("attribute_exists(PK)")));
		fails(IdempotentParameterMismatchException.class, () -> Patterns.addOnce(3));
		equal(requests() - before, 4);
	}
}
