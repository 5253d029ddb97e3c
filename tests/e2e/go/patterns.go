package main

import (
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var patterns = []test{
	{"create and describe", createAndDescribe}, {"every type", everyType}, {"item collection", itemCollection},
	{"compound entity", compoundEntity}, {"global index", globalIndex}, {"sparse index", sparseIndex}, {"hierarchy", hierarchy},
	{"pagination", pagination}, {"parallel scan", parallelScan}, {"batches", batches}, {"counters, sets, lists", countersSetsLists},
	{"uniqueness", uniqueness}, {"optimistic locking", optimisticLocking}, {"idempotent transaction", idempotentTransaction},
	{"consistent reads", consistentReads}, {"capacity", capacity}, {"time to live", timeToLive}, {"tags", tags},
	{"an index for a live table", migration}, {"checksums", checksums},
	{"PartiQL", statements},
}

func keySchema(names ...string) []types.KeySchemaElement {
	elements := []types.KeySchemaElement{}
	for i, name := range names {
		elements = append(elements, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: []types.KeyType{"HASH", "RANGE"}[i]})
	}
	return elements
}

func appTable(name string) *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest, KeySchema: keySchema("PK", "SK"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			{IndexName: aws.String("GSI1"), KeySchema: keySchema("GSI1PK", "GSI1SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}},
			{IndexName: aws.String("GSI2"), KeySchema: keySchema("GSI2PK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}},
		},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{
			{IndexName: aws.String("by-time"), KeySchema: keySchema("PK", "at"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}}},
	}
	for _, attribute := range []string{"PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "at"} {
		input.AttributeDefinitions = append(input.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(attribute), AttributeType: types.ScalarAttributeTypeS})
	}
	return input
}

func createAndDescribe() {
	must(client.CreateTable(ctx, appTable("app")))
	out := must(dynamodb.NewTableExistsWaiter(client).WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: app}, time.Minute))
	equal(out.Table.TableStatus, types.TableStatusActive)
	equal(time.Since(*out.Table.CreationDateTime) < time.Minute, true)
	equal(len(out.Table.GlobalSecondaryIndexes), 2)
	equal(out.Table.BillingModeSummary.BillingMode, types.BillingModePayPerRequest)
	equal(must(client.ListTables(ctx, &dynamodb.ListTablesInput{})).TableNames, []string{"app"})
}

// Values as they came, through the marshaller and back.
func everyType() {
	type nested struct {
		Deep map[string][]int
		Flag bool
	}
	type record struct {
		PK, SK  string
		Text    string
		Number  float64
		Big     attributevalue.Number
		Nested  nested
		Nothing *string
		Bytes   []byte
		Set     []string `dynamodbav:",stringset"`
		Numbers []int    `dynamodbav:",numberset"`
		Binary  [][]byte `dynamodbav:",binaryset"`
		Empty   map[string]string
	}
	in := record{PK: "types", SK: "1", Text: "é\x00\U0001F600", Number: 12.5, Big: "12345678901234567890123456789012345678", Bytes: []byte{0, 1, 255},
		Nested: nested{map[string][]int{"er": {1, 2}}, true}, Set: []string{"a", "b"}, Numbers: []int{-1, 2}, Binary: [][]byte{{0}, {1}}, Empty: map[string]string{}}
	must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: app, Item: must(attributevalue.MarshalMap(in))}))
	var out record
	item := must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: app, Key: key("types", "1")})).Item
	if err := attributevalue.UnmarshalMap(item, &out); err != nil {
		panic(err)
	}
	sort.Strings(out.Set)
	sort.Ints(out.Numbers)
	equal(out, in)
}

// query asks the table (or an index) by a condition of the expression builder.
func query(index string, condition expression.KeyConditionBuilder, change func(*dynamodb.QueryInput)) *dynamodb.QueryOutput {
	built := must(expression.NewBuilder().WithKeyCondition(condition).Build())
	input := &dynamodb.QueryInput{TableName: app, KeyConditionExpression: built.KeyCondition(), ExpressionAttributeNames: built.Names(),
		ExpressionAttributeValues: built.Values()}
	if index != "" {
		input.IndexName = aws.String(index)
	}
	if change != nil {
		change(input)
	}
	return must(client.Query(ctx, input))
}

func is(name string, value any) expression.KeyConditionBuilder {
	return expression.Key(name).Equal(expression.Value(value))
}

func itemCollection() {
	for _, sk := range []string{"PROFILE", "ORDER#2026-03-09#C3", "ORDER#2026-01-15#A1", "ORDER#2026-02-01#B2"} {
		put(thing{"PK": "CUSTOMER#42", "SK": sk})
	}
	orders := is("PK", "CUSTOMER#42").And(expression.Key("SK").BeginsWith("ORDER#"))
	equal(query("", is("PK", "CUSTOMER#42"), nil).Count, int32(4))
	equal(column(query("", orders, nil).Items, "SK"), []string{"ORDER#2026-01-15#A1", "ORDER#2026-02-01#B2", "ORDER#2026-03-09#C3"})
	newest := query("", orders, func(q *dynamodb.QueryInput) { q.ScanIndexForward, q.Limit = aws.Bool(false), aws.Int32(1) })
	equal(column(newest.Items, "SK"), []string{"ORDER#2026-03-09#C3"})
	equal(newest.LastEvaluatedKey, key("CUSTOMER#42", "ORDER#2026-03-09#C3"))
}

func transactPut(item thing) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: app, Item: wire(item)}}
}

func compoundEntity() {
	rows := []string{"ORDER#1", "ORDER#1#LINE#1", "ORDER#1#LINE#2", "ORDER#1#PAYMENT#1"}
	actions := []types.TransactWriteItem{}
	for _, sk := range rows {
		actions = append(actions, transactPut(thing{"PK": "O", "SK": sk}))
	}
	must(client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions}))
	equal(column(query("", is("PK", "O").And(expression.Key("SK").BeginsWith("ORDER#1")), nil).Items, "SK"), rows)
	out := must(client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: app, Key: key("O", "ORDER#1")}}, {Get: &types.Get{TableName: app, Key: key("O", "none")}}}}))
	equal(out.Responses[0].Item, key("O", "ORDER#1"))
	equal(len(out.Responses[1].Item), 0)
}

func globalIndex() {
	put(thing{"PK": "ORDER#7", "SK": "META", "GSI1PK": "STATUS#SHIPPED", "GSI1SK": "2026-01-02", "total": 7},
		thing{"PK": "ORDER#8", "SK": "META", "GSI1PK": "STATUS#SHIPPED", "GSI1SK": "2026-01-01", "total": 8},
		thing{"PK": "CUSTOMER#9", "SK": "PROFILE", "GSI1PK": "ada@example.com", "GSI1SK": "CUSTOMER"})
	equal(column(query("GSI1", is("GSI1PK", "STATUS#SHIPPED"), nil).Items, "PK"), []string{"ORDER#8", "ORDER#7"})
	equal(column(query("GSI1", is("GSI1PK", "ada@example.com"), nil).Items, "PK"), []string{"CUSTOMER#9"})
}

func sparseIndex() {
	put(thing{"PK": "S", "SK": "1", "GSI2PK": "OPEN", "more": "x"}, thing{"PK": "S", "SK": "2"})
	open := query("GSI2", is("GSI2PK", "OPEN"), nil)
	equal(open.Items, []map[string]types.AttributeValue{wire(thing{"PK": "S", "SK": "1", "GSI2PK": "OPEN"})})
	must(client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: app, Key: key("S", "1"), UpdateExpression: aws.String("REMOVE GSI2PK")}))
	equal(query("GSI2", is("GSI2PK", "OPEN"), nil).Count, int32(0))
}

func hierarchy() {
	places := []string{"COUNTRY#US", "COUNTRY#US#STATE#CA", "COUNTRY#US#STATE#CA#CITY#LA", "COUNTRY#US#STATE#CA#CITY#SF", "COUNTRY#US#STATE#NY"}
	for _, place := range places {
		put(thing{"PK": "PLACES", "SK": place})
	}
	equal(column(query("", is("PK", "PLACES").And(expression.Key("SK").BeginsWith("COUNTRY#US#STATE#CA#CITY#")), nil).Items, "SK"), places[2:4])
	between := expression.Key("SK").Between(expression.Value(places[1]), expression.Value(places[3]))
	equal(column(query("", is("PK", "PLACES").And(between), nil).Items, "SK"), places[1:4])
}

func pagination() {
	for i := 0; i < 30; i++ {
		put(thing{"PK": "PAGES", "SK": fmt.Sprintf("%03d", i), "GSI1PK": "PAGES", "GSI1SK": fmt.Sprintf("%03d", 29-i), "at": "2026", "n": i})
	}
	for _, c := range []struct {
		index *string
		name  string
	}{{nil, "PK"}, {aws.String("GSI1"), "GSI1PK"}, {aws.String("by-time"), "PK"}} {
		built := must(expression.NewBuilder().WithKeyCondition(is(c.name, "PAGES")).Build())
		pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{TableName: app, IndexName: c.index, Limit: aws.Int32(7),
			KeyConditionExpression: built.KeyCondition(), ExpressionAttributeNames: built.Names(), ExpressionAttributeValues: built.Values()})
		found, count := map[string]bool{}, 0
		for pages.HasMorePages() {
			for _, sk := range column(must(pages.NextPage(ctx)).Items, "SK") {
				found[sk] = true
			}
			count++
		}
		equal([]int{len(found), count}, []int{30, 5})
	}
	// Limit counts before the filter: an empty page that goes on.
	first := query("", is("PK", "PAGES"), func(q *dynamodb.QueryInput) {
		q.Limit, q.FilterExpression = aws.Int32(2), aws.String("n > :n")
		q.ExpressionAttributeValues[":n"] = &types.AttributeValueMemberN{Value: "20"}
	})
	equal([]int32{first.Count, first.ScannedCount}, []int32{0, 2})
	equal(first.LastEvaluatedKey, key("PAGES", "001"))
}

func parallelScan() {
	total := must(client.Scan(ctx, &dynamodb.ScanInput{TableName: app, Select: types.SelectCount})).Count
	counts := make(chan int32)
	for segment := int32(0); segment < 4; segment++ {
		go func() {
			count := int32(0)
			pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: app, Segment: &segment, TotalSegments: aws.Int32(4), Limit: aws.Int32(5)})
			for pages.HasMorePages() {
				page, err := pages.NextPage(ctx)
				if err != nil {
					count = -1000000
					break
				}
				count += page.Count
			}
			counts <- count
		}()
	}
	equal(<-counts+<-counts+<-counts+<-counts, total)
}

func batches() {
	writes, keys := []types.WriteRequest{}, []map[string]types.AttributeValue{}
	for i := 0; i < 25; i++ {
		sk := fmt.Sprintf("%02d", i)
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: wire(thing{"PK": "BATCH", "SK": sk})}})
		keys = append(keys, key("BATCH", sk))
	}
	written := must(client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"app": writes}}))
	equal(len(written.UnprocessedItems), 0)
	read := must(client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"app": {Keys: keys}}}))
	equal([]int{len(read.Responses["app"]), len(read.UnprocessedKeys)}, []int{25, 0})
	// More than 16 MB: the rest comes back in the form of the request, and asking for it ends.
	big := strings.Repeat("x", 390*1024)
	for i := 0; i < 45; i++ {
		put(thing{"PK": "BIG", "SK": fmt.Sprintf("%02d", i), "body": big})
	}
	left := map[string]types.KeysAndAttributes{"app": {}}
	for i := 0; i < 45; i++ {
		left["app"] = types.KeysAndAttributes{Keys: append(left["app"].Keys, key("BIG", fmt.Sprintf("%02d", i))), ProjectionExpression: aws.String("PK, SK")}
	}
	got, rounds := 0, 0
	for ; len(left) > 0; rounds++ {
		out := must(client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: left}))
		got += len(out.Responses["app"])
		left = out.UnprocessedKeys
	}
	equal([]int{got, rounds}, []int{45, 2})
}

func countersSetsLists() {
	put(thing{"PK": "C", "SK": "1", "a": thing{"b": []any{0, 1, 2, thing{"c": "old"}}}})
	values := wire(thing{":one": 1, ":c": "new", ":empty": []any{}, ":l": []string{"z"}})
	values[":t"] = &types.AttributeValueMemberSS{Value: []string{"x", "y"}}
	input := &dynamodb.UpdateItemInput{TableName: app, Key: key("C", "1"), ReturnValues: types.ReturnValueAllNew, ExpressionAttributeValues: values,
		UpdateExpression:         aws.String("ADD visits :one, tags :t SET #a.b[3].c = :c, seen = list_append(if_not_exists(seen, :empty), :l)"),
		ExpressionAttributeNames: map[string]string{"#a": "a"}}
	must(client.UpdateItem(ctx, input))
	new := must(client.UpdateItem(ctx, input)).Attributes
	equal(new["visits"], &types.AttributeValueMemberN{Value: "2"})
	equal(new["seen"], must(attributevalue.Marshal([]string{"z", "z"})))
	tags := append([]string{}, new["tags"].(*types.AttributeValueMemberSS).Value...)
	sort.Strings(tags)
	equal(tags, []string{"x", "y"})
	equal(new["a"], must(attributevalue.Marshal(thing{"b": []any{0, 1, 2, thing{"c": "new"}}})))
	update := must(expression.NewBuilder().WithUpdate(expression.Delete(expression.Name("tags"), expression.Value(&types.AttributeValueMemberSS{Value: []string{"x"}})).
		Remove(expression.Name("a.b[0]"))).WithCondition(expression.Name("visits").GreaterThan(expression.Value(1))).Build())
	out := must(client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: app, Key: key("C", "1"), ReturnValues: types.ReturnValueUpdatedNew,
		UpdateExpression: update.Update(), ConditionExpression: update.Condition(), ExpressionAttributeNames: update.Names(), ExpressionAttributeValues: update.Values()}))
	equal(out.Attributes["tags"], &types.AttributeValueMemberSS{Value: []string{"y"}})
}

func signUp(user string) error {
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		transactPut(thing{"PK": "USER#" + user, "SK": "PROFILE"}),
		{Put: &types.Put{TableName: app, Item: key("EMAIL#x", "EMAIL"), ConditionExpression: aws.String("attribute_not_exists(PK)")}}}})
	return err
}

func uniqueness() {
	equal(signUp("1"), nil)
	equal(cancelled(signUp("2")), []string{"None", "ConditionalCheckFailed"})
	equal(len(get("USER#2", "PROFILE")), 0)
}

func optimisticLocking() {
	put(thing{"PK": "DOC", "SK": "1", "version": 1})
	change := &dynamodb.UpdateItemInput{TableName: app, Key: key("DOC", "1"), UpdateExpression: aws.String("SET version = version + :one"),
		ConditionExpression: aws.String("version = :v"), ExpressionAttributeValues: wire(thing{":one": 1, ":v": 1}), ReturnValues: types.ReturnValueAllNew}
	equal(must(client.UpdateItem(ctx, change)).Attributes["version"], &types.AttributeValueMemberN{Value: "2"})
	_, err := client.UpdateItem(ctx, change)
	as[*types.ConditionalCheckFailedException](err)
}

func addOnce(quantity int) (*dynamodb.TransactWriteItemsOutput, error) {
	return client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token-1"),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal, TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: app, Key: key("I", "1"), UpdateExpression: aws.String("ADD n :q"),
				ExpressionAttributeValues: wire(thing{":q": quantity})}}}})
}

func idempotentTransaction() {
	must(addOnce(1))
	equal(*must(addOnce(1)).ConsumedCapacity[0].ReadCapacityUnits, 2.0)
	equal(get("I", "1")["n"], 1.0)
	_, err := addOnce(2)
	as[*types.IdempotentParameterMismatchException](err)
}

func consistentReads() {
	put(thing{"PK": "R", "SK": "1", "at": "2026", "body": "b"})
	equal(get("R", "1")["body"], "b")
	local := query("by-time", is("PK", "R"), func(q *dynamodb.QueryInput) { q.ConsistentRead = aws.Bool(true) })
	equal(local.Items, []map[string]types.AttributeValue{wire(thing{"PK": "R", "SK": "1", "at": "2026"})})
}

func capacity() {
	out := must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: app, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		Item: wire(thing{"PK": "CAP", "SK": "1", "GSI1PK": "CAP", "GSI1SK": "1", "body": strings.Repeat("x", 1500)})}))
	equal(*out.ConsumedCapacity.CapacityUnits, 4.0)
	equal(*out.ConsumedCapacity.Table.CapacityUnits, 2.0)
	equal(*out.ConsumedCapacity.GlobalSecondaryIndexes["GSI1"].CapacityUnits, 2.0)
	read := must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: app, Key: key("CAP", "1"), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}))
	equal(*read.ConsumedCapacity.CapacityUnits, 0.5)
}

func timeToLive() {
	must(client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: app,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)}}))
	described := must(client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: app})).TimeToLiveDescription
	equal(*described.AttributeName, "expires")
	put(thing{"PK": "TTL", "SK": "old", "expires": time.Now().Add(-time.Hour).Unix()}, thing{"PK": "TTL", "SK": "new", "expires": time.Now().Add(time.Hour).Unix()})
	for end := time.Now().Add(time.Minute); len(get("TTL", "old")) > 0 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	equal([]int{len(get("TTL", "old")), len(get("TTL", "new"))}, []int{0, 3})
}

func tags() {
	arn := must(client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: app})).Table.TableArn
	must(client.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: arn, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("a")}}}))
	listed := must(client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: arn})).Tags
	equal([]string{*listed[0].Key, *listed[0].Value}, []string{"team", "a"})
}

func migration() {
	must(client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: app,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("n"), AttributeType: types.ScalarAttributeTypeN}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{IndexName: aws.String("by-n"),
			KeySchema: keySchema("n"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}}}}}))
	status := func() types.IndexStatus {
		for _, index := range must(client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: app})).Table.GlobalSecondaryIndexes {
			if *index.IndexName == "by-n" {
				return index.IndexStatus
			}
		}
		return "missing"
	}
	for end := time.Now().Add(time.Minute); status() == types.IndexStatusCreating && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	equal(status(), types.IndexStatusActive)
	equal(column(query("by-n", is("n", 17), nil).Items, "SK"), []string{"017"})
}

// The SDK counts the body's CRC-32 and only warns where it is another than the server's.
func checksums() {
	for _, compressed := range []bool{false, true} {
		warnings, encoding := []string{}, ""
		checked := dynamodb.NewFromConfig(aws.Config{Region: "us-east-1", Credentials: client.Options().Credentials}, func(o *dynamodb.Options) {
			o.BaseEndpoint, o.EnableAcceptEncodingGzip = aws.String(os.Getenv("DYNALITH_URL")), compressed
			o.Logger = logging.LoggerFunc(func(_ logging.Classification, format string, v ...any) {
				warnings = append(warnings, fmt.Sprintf(format, v...))
			})
			o.HTTPClient = smithyhttp.ClientDoFunc(func(request *http.Request) (*http.Response, error) {
				response, err := transport(request)
				if err == nil {
					encoding = response.Header.Get("Content-Encoding")
				}
				return response, err
			})
		})
		page := must(checked.Scan(ctx, &dynamodb.ScanInput{TableName: app})) // as much as a page holds
		equal(page.Count > 0 && page.LastEvaluatedKey != nil, true)
		equal(encoding == "gzip", compressed)
		_, err := checked.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("absent")})
		as[*types.ResourceNotFoundException](err)
		equal(warnings, []string{})
	}
}

func statements() {
	execute := func(statement string, parameters ...any) (*dynamodb.ExecuteStatementOutput, error) {
		input := &dynamodb.ExecuteStatementInput{Statement: aws.String(statement)}
		for _, parameter := range parameters {
			input.Parameters = append(input.Parameters, must(attributevalue.Marshal(parameter)))
		}
		return client.ExecuteStatement(ctx, input)
	}
	insert := `INSERT INTO "app" VALUE {'PK': ?, 'SK': ?, 'hits': 1}`
	must(execute(insert, "SQL", "1"))
	must(execute(insert, "SQL", "2"))
	_, err := execute(insert, "SQL", "1")
	as[*types.DuplicateItemException](err)
	must(execute(`UPDATE "app" SET hits = hits + 1 WHERE PK = ? AND SK = ?`, "SQL", "2"))
	found := must(execute(`SELECT SK, hits FROM "app" WHERE PK = ?`, "SQL")).Items
	equal(found, []map[string]types.AttributeValue{wire(thing{"SK": "1", "hits": 1}), wire(thing{"SK": "2", "hits": 2})})
	batch := must(client.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
		{Statement: aws.String(`SELECT hits FROM "app" WHERE PK = 'SQL' AND SK = '2'`)},
		{Statement: aws.String(`SELECT hits FROM "absent" WHERE PK = 'SQL' AND SK = '2'`)}}})).Responses
	equal(batch[0].Item, wire(thing{"hits": 2}))
	equal(batch[1].Error.Code, types.BatchStatementErrorCodeEnumResourceNotFound)
	_, err = client.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{
		{Statement: aws.String(`INSERT INTO "app" VALUE {'PK': 'SQL', 'SK': '3'}`)},
		{Statement: aws.String(`UPDATE "app" SET hits = 9 WHERE PK = 'SQL' AND SK = '1' AND hits = 5`)}}})
	equal(cancelled(err), []string{"None", "ConditionalCheckFailed"})
	equal(len(get("SQL", "3")), 0)
}
