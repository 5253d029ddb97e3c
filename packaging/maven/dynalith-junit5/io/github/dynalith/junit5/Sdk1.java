package io.github.dynalith.junit5;

import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreams;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreamsClientBuilder;
import com.amazonaws.services.dynamodbv2.datamodeling.DynamoDBMapper;

import io.github.dynalith.Namespace;

/** Loaded only where a test has such a client. */
final class Sdk1 {
	private Sdk1() {
	}

	private static <B extends AwsClientBuilder<B, C>, C> C build(B builder, Namespace namespace) {
		return builder.withEndpointConfiguration(new AwsClientBuilder.EndpointConfiguration(namespace.url().toString(), namespace.region()))
			.withCredentials(new AWSStaticCredentialsProvider(new BasicAWSCredentials(namespace.account(), "any"))).build();
	}

	static AmazonDynamoDB client(Namespace namespace) {
		return build(AmazonDynamoDBClientBuilder.standard(), namespace);
	}

	static AmazonDynamoDBStreams streamsClient(Namespace namespace) {
		return build(AmazonDynamoDBStreamsClientBuilder.standard(), namespace);
	}

	static DynamoDBMapper mapper(Clients clients) {
		return new DynamoDBMapper(clients.get(AmazonDynamoDB.class));
	}
}
