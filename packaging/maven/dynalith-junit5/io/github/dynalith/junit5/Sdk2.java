package io.github.dynalith.junit5;

import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClientBuilder;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClientBuilder;

import io.github.dynalith.InProcessNamespace;
import io.github.dynalith.Namespace;
import io.github.dynalith.Races;

/** Loaded only where a test has such a client. */
final class Sdk2 {
	private Sdk2() {
	}

	private static <B extends AwsClientBuilder<B, C>, C> C build(B builder, Namespace namespace) {
		return builder.endpointOverride(namespace.url()).region(Region.of(namespace.region()))
			.credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(namespace.account(), "any"))).build();
	}

	static DynamoDbClient client(Namespace namespace) {
		DynamoDbClientBuilder builder = DynamoDbClient.builder();
		return namespace instanceof InProcessNamespace ? ((InProcessNamespace) namespace).client(builder) : build(builder, namespace);
	}

	/** The name is the SDK's application id, which it has no option for. */
	static DynamoDbClient client(Races.Run run) {
		return DynamoDbClient.builder().endpointOverride(run.url()).region(Region.US_EAST_1)
			.credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("races", "races")))
			.overrideConfiguration(c -> {
				if (run.name() != null)
					c.putAdvancedOption(SdkAdvancedClientOption.USER_AGENT_SUFFIX, "app/" + run.name());
			}).build();
	}

	static DynamoDbAsyncClient asyncClient(Namespace namespace) {
		DynamoDbAsyncClientBuilder builder = DynamoDbAsyncClient.builder();
		return namespace instanceof InProcessNamespace ? ((InProcessNamespace) namespace).asyncClient(builder) : build(builder, namespace);
	}

	static DynamoDbStreamsClient streamsClient(Namespace namespace) {
		DynamoDbStreamsClientBuilder builder = DynamoDbStreamsClient.builder();
		return namespace instanceof InProcessNamespace ? ((InProcessNamespace) namespace).client(builder) : build(builder, namespace);
	}
}
