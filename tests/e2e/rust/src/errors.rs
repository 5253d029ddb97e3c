use crate::patterns::{add_once, app, put, transact_put};
use crate::{get, item, key, n, requests, row, s, Count, Outcome};
use aws_sdk_dynamodb::config::Credentials;
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::types::{ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update};
use aws_sdk_dynamodb::Client;

pub async fn run(client: &Client, count: &mut Count) {
    count.test("a missing table", missing_table(client.clone())).await;
    count.test("a table that is there", table_in_use(client.clone())).await;
    count.test("a failed condition with its item", condition_with_item(client.clone())).await;
    count.test("a cancelled transaction", cancelled_transaction(client.clone())).await;
    count.test("a validation error", validation(client.clone())).await;
    count.test("mistakes are not tried again", not_retried(client.clone())).await;
    count.test("signatures", signatures(client.clone())).await;
}

async fn missing_table(client: Client) -> Outcome {
    let error = client.describe_table().table_name("absent").send().await.unwrap_err();
    assert_eq!(error.raw_response().unwrap().status().as_u16(), 400);
    let error = error.into_service_error();
    assert!(error.is_resource_not_found_exception() && error.request_id().is_some());
    assert_eq!(error.message(), Some("Requested resource not found: Table: absent not found"));
    Ok(())
}

async fn table_in_use(client: Client) -> Outcome {
    let error = app(&client, "app").send().await.unwrap_err().into_service_error();
    assert!(error.is_resource_in_use_exception());
    assert_eq!(error.message(), Some("Table already exists: app"));
    Ok(())
}

async fn condition_with_item(client: Client) -> Outcome {
    let there = row("COND", "1", &[("owner", s("ada"))]);
    put(&client, there.clone()).await;
    for (returns, want) in [(None, None), (Some(ReturnValuesOnConditionCheckFailure::AllOld), Some(there))] {
        let again = client.put_item().table_name("app").set_item(Some(key("COND", "1"))).condition_expression("attribute_not_exists(PK)");
        match again.set_return_values_on_condition_check_failure(returns).send().await.unwrap_err().into_service_error() {
            PutItemError::ConditionalCheckFailedException(failed) => {
                assert_eq!(failed.message(), Some("The conditional request failed"));
                assert_eq!(failed.item(), want.as_ref());
            }
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

async fn cancelled_transaction(client: Client) -> Outcome {
    put(&client, row("PRODUCT#1", "STOCK", &[("stock", n(2))])).await;
    let update = Update::builder().table_name("app").set_key(Some(key("PRODUCT#1", "STOCK"))).update_expression("SET stock = stock - :q");
    let update = update.condition_expression("stock >= :q").set_expression_attribute_values(Some(item(&[(":q", n(3))])));
    let update = update.return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld).build()?;
    let request = client.transact_write_items().transact_items(transact_put(key("SALE#2", "META"), None));
    match request.transact_items(TransactWriteItem::builder().update(update).build()).send().await.unwrap_err().into_service_error() {
        TransactWriteItemsError::TransactionCanceledException(e) => {
            let text = "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]";
            assert_eq!(e.message(), Some(text));
            let reasons = e.cancellation_reasons();
            assert_eq!(reasons.iter().map(|r| r.code().unwrap()).collect::<Vec<_>>(), ["None", "ConditionalCheckFailed"]);
            assert_eq!((reasons[0].message(), reasons[1].message()), (None, Some("The conditional request failed")));
            assert_eq!(reasons[1].item().unwrap()["stock"], n(2));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(get(&client, "SALE#2", "META").await, None);
    Ok(())
}

/// ValidationException has no variant of its own in this SDK: it comes with its code as metadata.
async fn validation(client: Client) -> Outcome {
    let error = client.get_item().table_name("app").key("PK", s("x")).send().await.unwrap_err().into_service_error();
    assert_eq!((error.code(), error.message()), (Some("ValidationException"), Some("The provided key element does not match the schema")));
    Ok(())
}

async fn not_retried(client: Client) -> Outcome {
    let before = requests().await;
    validation(client.clone()).await?;
    missing_table(client.clone()).await?;
    let taken = client.transact_write_items().transact_items(transact_put(key("COND", "1"), Some("attribute_not_exists(PK)"))).send().await;
    assert!(taken.unwrap_err().into_service_error().is_transaction_canceled_exception());
    let mismatch = add_once(&client, 3).await.unwrap_err().into_service_error();
    assert!(mismatch.is_idempotent_parameter_mismatch_exception());
    assert_eq!(requests().await - before, 4);
    Ok(())
}

async fn signatures(client: Client) -> Outcome {
    for (secret, want) in [("local", None), ("wrong", Some("InvalidSignatureException"))] {
        let signed = client.config().to_builder().endpoint_url(std::env::var("DYNALITH_VERIFY_URL")?);
        let signed = signed.credentials_provider(Credentials::new("local", secret, None, None, "test")).build();
        let listed = Client::from_conf(signed).list_tables().exclusive_start_table_name("a-b_c.d").send().await;
        assert_eq!(listed.err().and_then(|e| e.code().map(String::from)).as_deref(), want);
    }
    Ok(())
}
