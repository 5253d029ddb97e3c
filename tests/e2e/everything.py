"""Data of every kind that a store keeps, for tests that copy, check or mend it."""
from harness import create_app


def a_file_of_everything(server):
    """Indexes of all kinds, a stream, time to live, values from 1 byte to pages of their own."""
    client = server.client()
    create_app(client)
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "end"})
    client.update_table(TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    for i in range(200):
        item = {"PK": {"S": f"p{i % 20}"}, "SK": {"S": f"s{i}"}, "GSI1PK": {"S": "g"}, "GSI1SK": {"S": str(i)}, "at": {"S": str(i)},
                "total": {"N": f"{i}.50"}, "pad": {"S": "x" * (i * i % 9000)}, "set": {"NS": [str(i), "-1", "1e20"]}}
        if i % 2:
            item |= {"GSI2PK": {"S": f"h{i % 7}"}, "end": {"N": str(4_000_000_000 + i)}}
        client.put_item(TableName="app", Item=item)
    for i in range(0, 200, 3):
        client.delete_item(TableName="app", Key={"PK": {"S": f"p{i % 20}"}, "SK": {"S": f"s{i}"}})
    client.create_table(TableName="gone", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}],
                        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    client.put_item(TableName="gone", Item={"a": {"S": "1"}})
    client.delete_table(TableName="gone")
