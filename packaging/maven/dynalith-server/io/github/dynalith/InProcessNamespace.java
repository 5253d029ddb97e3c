package io.github.dynalith;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;

import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsAsyncClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder;
import software.amazon.awssdk.regions.Region;

/** The tables of an account in a region, in this process. */
public final class InProcessNamespace extends Namespace {
	private final InProcess server;

	InProcessNamespace(InProcess server, long account, String region) {
		super(URI.create("http://dynalith.invalid"), account, region);
		this.server = server;
	}

	@Override
	String call(String method, String target, String body) throws IOException {
		Library.Answer answer = server.library().send(method, target, Collections.emptyList(), body.getBytes(StandardCharsets.UTF_8), account(), region());
		String text = new String(answer.body, StandardCharsets.UTF_8);
		if (answer.status != 200)
			throw new IOException(text);
		return text;
	}

	@Override
	public void apply(Path... files) {
		for (Path file : files)
			server.library().apply(file.toAbsolutePath().toString(), account(), region());
	}

	/** A client of the SDK for these tables; its requests are signed only where the option --auth says that signatures are checked. */
	public <B extends AwsSyncClientBuilder<B, C> & AwsClientBuilder<B, C>, C> C client(B builder) {
		return configured(builder.httpClient(new InProcessHttpClient(server.library(), whose(account()), whose(region()))));
	}

	/** The same of those that return futures. */
	public <B extends AwsAsyncClientBuilder<B, C> & AwsClientBuilder<B, C>, C> C asyncClient(B builder) {
		return configured(builder.httpClient(new InProcessAsyncHttpClient(server.library(), whose(account()), whose(region()))));
	}

	/** Where it is not signed a request names nobody. */
	private String whose(String name) {
		return server.isSigned() ? null : name;
	}

	private <B extends AwsClientBuilder<B, C>, C> C configured(B builder) {
		if (!server.isSigned())
			builder.putAuthScheme(new Unsigned());
		AwsCredentialsProvider credentials = server.isSigned() ? StaticCredentialsProvider.create(AwsBasicCredentials.create(account(), "any")) : AnonymousCredentialsProvider.create();
		return builder.endpointOverride(url()).region(Region.of(region())).credentialsProvider(credentials).build();
	}
}
