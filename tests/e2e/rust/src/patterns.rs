use crate::{get, item, key, n, row, s, Count, Item, Outcome};
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::transact_write_items::{TransactWriteItemsError, TransactWriteItemsOutput};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::*;
use aws_sdk_dynamodb::Client;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

pub async fn run(client: &Client, count: &mut Count) {
    count.test("create and describe", create_and_describe(client.clone())).await;
    count.test("every type", every_type(client.clone())).await;
    count.test("item collection", item_collection(client.clone())).await;
    count.test("compound entity", compound_entity(client.clone())).await;
    count.test("global and sparse index", indexes(client.clone())).await;
    count.test("pagination", pagination(client.clone())).await;
    count.test("batches", batches(client.clone())).await;
    count.test("counters, sets, lists", counters_sets_lists(client.clone())).await;
    count.test("optimistic locking", optimistic_locking(client.clone())).await;
    count.test("idempotent transaction", idempotent_transaction(client.clone())).await;
    count.test("capacity", capacity(client.clone())).await;
}

fn keys(names: &[&str]) -> Vec<KeySchemaElement> {
    let kinds = [KeyType::Hash, KeyType::Range];
    names.iter().zip(kinds).map(|(name, kind)| KeySchemaElement::builder().attribute_name(*name).key_type(kind).build().unwrap()).collect()
}

fn index(name: &str, schema: &[&str], projection: ProjectionType) -> GlobalSecondaryIndex {
    let projection = Projection::builder().projection_type(projection).build();
    GlobalSecondaryIndex::builder().index_name(name).set_key_schema(Some(keys(schema))).projection(projection).build().unwrap()
}

pub fn app(client: &Client, name: &str) -> CreateTableFluentBuilder {
    let attributes = ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK"]
        .map(|a| AttributeDefinition::builder().attribute_name(a).attribute_type(ScalarAttributeType::S).build().unwrap());
    let table = client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest).set_key_schema(Some(keys(&["PK", "SK"])));
    table
        .set_attribute_definitions(Some(attributes.to_vec()))
        .global_secondary_indexes(index("GSI1", &["GSI1PK", "GSI1SK"], ProjectionType::All))
        .global_secondary_indexes(index("GSI2", &["GSI2PK"], ProjectionType::KeysOnly))
}

async fn create_and_describe(client: Client) -> Outcome {
    app(&client, "app").send().await?;
    client.wait_until_table_exists().table_name("app").wait(Duration::from_secs(60)).await?;
    let table = client.describe_table().table_name("app").send().await?.table.unwrap();
    assert_eq!(table.table_status(), Some(&TableStatus::Active));
    assert_eq!(table.global_secondary_indexes().len(), 2);
    assert_eq!(client.list_tables().send().await?.table_names(), ["app"]);
    Ok(())
}

pub async fn put(client: &Client, item: Item) {
    client.put_item().table_name("app").set_item(Some(item)).send().await.unwrap();
}

async fn every_type(client: Client) -> Outcome {
    let all = row(
        "types",
        "1",
        &[
            ("s", s("é\0\u{1F600}")),
            ("n", n("12345678901234567890123456789012345678")),
            ("t", AttributeValue::Bool(true)),
            ("nul", AttributeValue::Null(true)),
            ("b", AttributeValue::B(Blob::new([0, 1, 255]))),
            ("l", AttributeValue::L(vec![n(1), s("a"), AttributeValue::M(HashMap::new())])),
            ("ss", AttributeValue::Ss(vec!["a".into()])),
            ("ns", AttributeValue::Ns(vec!["-1.5".into()])),
            ("bs", AttributeValue::Bs(vec![Blob::new("x")])),
            ("empty", s("")),
        ],
    );
    put(&client, all.clone()).await;
    assert_eq!(get(&client, "types", "1").await, Some(all));
    Ok(())
}

fn column(items: &[Item], name: &str) -> Vec<String> {
    items.iter().map(|i| i[name].as_s().unwrap().clone()).collect()
}

fn query(client: &Client, condition: &str, values: &[(&str, AttributeValue)]) -> QueryFluentBuilder {
    client.query().table_name("app").key_condition_expression(condition).set_expression_attribute_values(Some(item(values)))
}

async fn item_collection(client: Client) -> Outcome {
    for sk in ["PROFILE", "ORDER#2026-03-09#C3", "ORDER#2026-01-15#A1", "ORDER#2026-02-01#B2"] {
        put(&client, key("CUSTOMER#42", sk)).await;
    }
    let orders = || query(&client, "PK = :p AND begins_with(SK, :s)", &[(":p", s("CUSTOMER#42")), (":s", s("ORDER#"))]);
    assert_eq!(column(orders().send().await?.items(), "SK"), ["ORDER#2026-01-15#A1", "ORDER#2026-02-01#B2", "ORDER#2026-03-09#C3"]);
    let newest = orders().scan_index_forward(false).limit(1).send().await?;
    assert_eq!(newest.last_evaluated_key(), Some(&key("CUSTOMER#42", "ORDER#2026-03-09#C3")));
    Ok(())
}

pub fn transact_put(item: Item, condition: Option<&str>) -> TransactWriteItem {
    let put = Put::builder().table_name("app").set_item(Some(item)).set_condition_expression(condition.map(String::from)).build().unwrap();
    TransactWriteItem::builder().put(put).build()
}

async fn compound_entity(client: Client) -> Outcome {
    let rows = ["ORDER#1", "ORDER#1#LINE#1", "ORDER#1#PAYMENT#1"];
    let actions = rows.map(|sk| transact_put(key("O", sk), None)).to_vec();
    client.transact_write_items().set_transact_items(Some(actions)).send().await?;
    assert_eq!(column(query(&client, "PK = :p", &[(":p", s("O"))]).send().await?.items(), "SK"), rows);
    let read = |sk: &str| TransactGetItem::builder().get(Get::builder().table_name("app").set_key(Some(key("O", sk))).build().unwrap()).build();
    let both = client.transact_get_items().transact_items(read("ORDER#1")).transact_items(read("none")).send().await?;
    assert_eq!(both.responses().iter().map(|r| r.item().is_some()).collect::<Vec<_>>(), [true, false]);
    Ok(())
}

async fn indexes(client: Client) -> Outcome {
    put(&client, row("ORDER#7", "META", &[("GSI1PK", s("SHIPPED")), ("GSI1SK", s("2026-01-02")), ("GSI2PK", s("OPEN"))])).await;
    put(&client, row("ORDER#8", "META", &[("GSI1PK", s("SHIPPED")), ("GSI1SK", s("2026-01-01"))])).await;
    let shipped = query(&client, "GSI1PK = :p", &[(":p", s("SHIPPED"))]).index_name("GSI1").send().await?;
    assert_eq!(column(shipped.items(), "PK"), ["ORDER#8", "ORDER#7"]);
    let open = || query(&client, "GSI2PK = :p", &[(":p", s("OPEN"))]).index_name("GSI2").send();
    assert_eq!(open().await?.items(), [row("ORDER#7", "META", &[("GSI2PK", s("OPEN"))])]);
    client.update_item().table_name("app").set_key(Some(key("ORDER#7", "META"))).update_expression("REMOVE GSI2PK").send().await?;
    assert_eq!(open().await?.count(), 0);
    Ok(())
}

async fn pagination(client: Client) -> Outcome {
    for i in 0..30 {
        put(&client, row("PAGES", &format!("{i:03}"), &[("GSI1PK", s("PAGES")), ("GSI1SK", s("same")), ("n", n(i))])).await;
    }
    for (name, attribute) in [(None, "PK"), (Some("GSI1".to_string()), "GSI1PK")] {
        let ask = query(&client, &format!("{attribute} = :p"), &[(":p", s("PAGES"))]).set_index_name(name).limit(7);
        let (mut pages, mut found, mut count) = (ask.into_paginator().send(), HashSet::new(), 0);
        while let Some(page) = pages.next().await {
            found.extend(column(page?.items(), "SK"));
            count += 1;
        }
        assert_eq!((found.len(), count), (30, 5));
    }
    let filtered = query(&client, "PK = :p", &[(":p", s("PAGES")), (":n", n(20))]).filter_expression("n > :n").limit(2).send().await?;
    assert_eq!((filtered.count(), filtered.scanned_count()), (0, 2));
    assert_eq!(filtered.last_evaluated_key(), Some(&key("PAGES", "001")));
    Ok(())
}

async fn batches(client: Client) -> Outcome {
    let rows: Vec<Item> = (0..25).map(|i| key("BATCH", &format!("{i:02}"))).collect();
    let write = |i: &Item| WriteRequest::builder().put_request(PutRequest::builder().set_item(Some(i.clone())).build().unwrap()).build();
    let written = client.batch_write_item().request_items("app", rows.iter().map(write).collect()).send().await?;
    assert!(written.unprocessed_items().unwrap().is_empty());
    let read = client.batch_get_item().request_items("app", KeysAndAttributes::builder().set_keys(Some(rows)).build()?).send().await?;
    assert_eq!(read.responses().unwrap()["app"].len(), 25);
    assert!(read.unprocessed_keys().unwrap().is_empty());
    Ok(())
}

async fn counters_sets_lists(client: Client) -> Outcome {
    let inner = |text: &str| AttributeValue::M(item(&[("b", AttributeValue::L(vec![n(0), AttributeValue::M(item(&[("c", s(text))]))]))]));
    put(&client, row("C", "1", &[("a", inner("old"))])).await;
    let values = [
        (":one", n(1)),
        (":t", AttributeValue::Ss(vec!["x".into()])),
        (":c", s("new")),
        (":empty", AttributeValue::L(vec![])),
        (":l", AttributeValue::L(vec![s("z")])),
    ];
    let update = client.update_item().table_name("app").set_key(Some(key("C", "1"))).return_values(ReturnValue::AllNew);
    let out = update
        .update_expression("ADD visits :one, tags :t SET #a.b[1].c = :c, seen = list_append(if_not_exists(seen, :empty), :l)")
        .expression_attribute_names("#a", "a")
        .set_expression_attribute_values(Some(item(&values)))
        .send()
        .await?;
    let want = [("visits", n(1)), ("tags", values[1].1.clone()), ("a", inner("new")), ("seen", values[4].1.clone())];
    assert_eq!(out.attributes(), Some(&row("C", "1", &want)));
    Ok(())
}

async fn optimistic_locking(client: Client) -> Outcome {
    put(&client, row("DOC", "1", &[("version", n(1))])).await;
    let change = || {
        let update = client.update_item().table_name("app").set_key(Some(key("DOC", "1"))).update_expression("SET version = version + :one");
        update.condition_expression("version = :v").set_expression_attribute_values(Some(item(&[(":one", n(1)), (":v", n(1))]))).send()
    };
    change().await?;
    assert!(change().await.unwrap_err().into_service_error().is_conditional_check_failed_exception());
    assert_eq!(get(&client, "DOC", "1").await.unwrap()["version"], n(2));
    Ok(())
}

pub async fn add_once(client: &Client, quantity: i32) -> Result<TransactWriteItemsOutput, SdkError<TransactWriteItemsError>> {
    let update = Update::builder().table_name("app").set_key(Some(key("I", "1"))).update_expression("ADD n :q");
    let update = update.expression_attribute_values(":q", n(quantity)).build().unwrap();
    let request = client.transact_write_items().client_request_token("token-1").return_consumed_capacity(ReturnConsumedCapacity::Total);
    request.transact_items(TransactWriteItem::builder().update(update).build()).send().await
}

async fn idempotent_transaction(client: Client) -> Outcome {
    add_once(&client, 1).await?;
    assert_eq!(add_once(&client, 1).await?.consumed_capacity()[0].read_capacity_units(), Some(2.0));
    assert_eq!(get(&client, "I", "1").await.unwrap()["n"], n(1));
    Ok(())
}

async fn capacity(client: Client) -> Outcome {
    let big = row("CAP", "1", &[("GSI1PK", s("CAP")), ("GSI1SK", s("1")), ("body", s(&"x".repeat(1500)))]);
    let out = client.put_item().table_name("app").set_item(Some(big)).return_consumed_capacity(ReturnConsumedCapacity::Indexes).send().await?;
    let used = out.consumed_capacity().unwrap();
    assert_eq!((used.capacity_units(), used.table().unwrap().capacity_units()), (Some(4.0), Some(2.0)));
    assert_eq!(used.global_secondary_indexes().unwrap()["GSI1"].capacity_units(), Some(2.0));
    Ok(())
}
