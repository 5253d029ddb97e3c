package io.github.dynalith.junit5;

import io.github.dynalith.Races;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Clients of SDK 2 for a run of {@link Races}: their requests have the client's name. */
public final class RaceClients {
	private RaceClients() {
	}

	/** To be closed when the client has done its work. */
	public static DynamoDbClient client(Races.Run run) {
		return Sdk2.client(run);
	}
}
