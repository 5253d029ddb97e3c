package io.github.dynalith;

import java.util.concurrent.CompletableFuture;

import software.amazon.awssdk.http.auth.aws.scheme.AwsV4AuthScheme;
import software.amazon.awssdk.http.auth.spi.scheme.AuthScheme;
import software.amazon.awssdk.http.auth.spi.signer.AsyncSignRequest;
import software.amazon.awssdk.http.auth.spi.signer.AsyncSignedRequest;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignRequest;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.IdentityProvider;
import software.amazon.awssdk.identity.spi.IdentityProviders;

/** In the place of Signature Version 4: requests go as they are. The SDK's own hashes the body first, and then sees that the credentials are anonymous. */
final class Unsigned implements AuthScheme<AwsCredentialsIdentity>, HttpSigner<AwsCredentialsIdentity> {
	@Override
	public String schemeId() {
		return AwsV4AuthScheme.SCHEME_ID;
	}

	@Override
	public IdentityProvider<AwsCredentialsIdentity> identityProvider(IdentityProviders providers) {
		return providers.identityProvider(AwsCredentialsIdentity.class);
	}

	@Override
	public HttpSigner<AwsCredentialsIdentity> signer() {
		return this;
	}

	@Override
	public SignedRequest sign(SignRequest<? extends AwsCredentialsIdentity> request) {
		return SignedRequest.builder().request(request.request()).payload(request.payload().orElse(null)).build();
	}

	@Override
	public CompletableFuture<AsyncSignedRequest> signAsync(AsyncSignRequest<? extends AwsCredentialsIdentity> request) {
		return CompletableFuture.completedFuture(AsyncSignedRequest.builder().request(request.request()).payload(request.payload().orElse(null)).build());
	}
}
