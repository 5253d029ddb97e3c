package io.github.dynalith.junit5;

import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedAsyncClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Loaded only where a test has such a client. */
final class Sdk2Enhanced {
	private Sdk2Enhanced() {
	}

	static DynamoDbEnhancedClient client(Clients clients) {
		return DynamoDbEnhancedClient.builder().dynamoDbClient(clients.get(DynamoDbClient.class)).build();
	}

	static DynamoDbEnhancedAsyncClient asyncClient(Clients clients) {
		return DynamoDbEnhancedAsyncClient.builder().dynamoDbClient(clients.get(DynamoDbAsyncClient.class)).build();
	}
}
