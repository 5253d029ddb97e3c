package io.github.dynalith.junit5;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

import org.junit.jupiter.api.extension.ExtensionConfigurationException;

import io.github.dynalith.InProcessNamespace;
import io.github.dynalith.Namespace;

/** Clients for a namespace, made once each. Types are known by their names: a project has the SDKs that it uses. */
final class Clients {
	private static final Map<String, Function<Clients, Object>> MAKERS = new LinkedHashMap<>();
	static {
		MAKERS.put("io.github.dynalith.Namespace", c -> c.namespace);
		MAKERS.put("software.amazon.awssdk.services.dynamodb.DynamoDbClient", c -> Sdk2.client(c.namespace));
		MAKERS.put("software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient", c -> Sdk2.asyncClient(c.namespace));
		MAKERS.put("software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient", c -> Sdk2.streamsClient(c.namespace));
		MAKERS.put("software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient", c -> Sdk2Enhanced.client(c));
		MAKERS.put("software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedAsyncClient", c -> Sdk2Enhanced.asyncClient(c));
		MAKERS.put("com.amazonaws.services.dynamodbv2.AmazonDynamoDB", c -> Sdk1.client(c.namespace));
		MAKERS.put("com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreams", c -> Sdk1.streamsClient(c.namespace));
		MAKERS.put("com.amazonaws.services.dynamodbv2.datamodeling.DynamoDBMapper", c -> Sdk1.mapper(c));
	}

	final Namespace namespace;
	private final Map<String, Object> made = new LinkedHashMap<>();

	Clients(Namespace namespace) {
		this.namespace = namespace;
	}

	static boolean knows(Class<?> type) {
		return MAKERS.containsKey(type.getName());
	}

	static String known() {
		return String.join(", ", MAKERS.keySet());
	}

	synchronized Object get(String type) {
		Object client = made.get(type);
		if (client == null) {
			if (type.startsWith("com.amazonaws.") && namespace instanceof InProcessNamespace)
				throw new ExtensionConfigurationException("@Dynalith(inProcess = true): " + type + " is of the SDK 1, which needs a server: inProcess = false");
			client = MAKERS.get(type).apply(this);
			made.put(type, client);
		}
		return client;
	}

	<T> T get(Class<T> type) {
		return type.cast(get(type.getName()));
	}
}
