package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var errorTests = []test{
	{"a missing table", missingTable}, {"a table that is there", tableInUse}, {"a failed condition with its item", conditionWithItem},
	{"a cancelled transaction", cancelledTransaction}, {"a validation error", validation}, {"mistakes are not tried again", notRetried},
	{"a deleted table", deleteTable},
	{"signatures", signatures}, {"a lost answer", lostAnswer},
}

// as is the error as the SDK's own type.
func as[T error](err error) T {
	var typed T
	if !errors.As(err, &typed) {
		panic(fmt.Sprintf("not a %T: %v", typed, err))
	}
	return typed
}

func cancelled(err error) []string {
	codes := []string{}
	for _, reason := range as[*types.TransactionCanceledException](err).CancellationReasons {
		codes = append(codes, *reason.Code)
	}
	return codes
}

func missingTable() {
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("absent"), Key: key("x", "x")})
	equal(as[*types.ResourceNotFoundException](err).ErrorMessage(), "Requested resource not found")
	_, err = client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("absent")})
	equal(as[*types.ResourceNotFoundException](err).ErrorMessage(), "Requested resource not found: Table: absent not found")
	response := as[*awshttp.ResponseError](err)
	equal(response.HTTPStatusCode(), 400)
	equal(response.ServiceRequestID() != "", true)
}

func tableInUse() {
	_, err := client.CreateTable(ctx, appTable("app"))
	equal(as[*types.ResourceInUseException](err).ErrorMessage(), "Table already exists: app")
}

func conditionWithItem() {
	put(thing{"PK": "COND", "SK": "1", "owner": "ada"})
	input := &dynamodb.PutItemInput{TableName: app, Item: key("COND", "1"), ConditionExpression: aws.String("attribute_not_exists(PK)")}
	_, err := client.PutItem(ctx, input)
	failed := as[*types.ConditionalCheckFailedException](err)
	equal(failed.ErrorMessage(), "The conditional request failed")
	equal(len(failed.Item), 0)
	input.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	_, err = client.PutItem(ctx, input)
	equal(as[*types.ConditionalCheckFailedException](err).Item, wire(thing{"PK": "COND", "SK": "1", "owner": "ada"}))
}

func cancelledTransaction() {
	put(thing{"PK": "PRODUCT#1", "SK": "STOCK", "stock": 2})
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		transactPut(thing{"PK": "SALE#2", "SK": "META"}),
		{Update: &types.Update{TableName: app, Key: key("PRODUCT#1", "STOCK"), UpdateExpression: aws.String("SET stock = stock - :q"),
			ConditionExpression: aws.String("stock >= :q"), ExpressionAttributeValues: wire(thing{":q": 3}),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}},
		{ConditionCheck: &types.ConditionCheck{TableName: app, Key: key("PRODUCT#2", "STOCK"), ConditionExpression: aws.String("attribute_exists(PK)")}}}})
	equal(cancelled(err), []string{"None", "ConditionalCheckFailed", "ConditionalCheckFailed"})
	exception := as[*types.TransactionCanceledException](err)
	equal(exception.ErrorMessage(),
		"Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed]")
	reasons := exception.CancellationReasons
	equal(reasons[0].Message == nil && reasons[0].Item == nil, true)
	equal(*reasons[1].Message, "The conditional request failed")
	equal(reasons[1].Item["stock"], &types.AttributeValueMemberN{Value: "2"})
	equal(reasons[2].Item == nil, true)
	equal(len(get("SALE#2", "META")), 0)
}

// ValidationException has no type of its own in this SDK: it comes as the general one.
func invalid() (string, smithy.ErrorFault) {
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: app, Key: wire(thing{"PK": "x"})})
	api := as[smithy.APIError](err)
	equal(api.ErrorCode(), "ValidationException")
	return api.ErrorMessage(), api.ErrorFault()
}

func validation() {
	message, _ := invalid()
	equal(message, "The provided key element does not match the schema")
	_, err := client.Query(ctx, &dynamodb.QueryInput{TableName: app, IndexName: aws.String("GSI1"), ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("GSI1PK = :p"), ExpressionAttributeValues: wire(thing{":p": "x"})})
	equal(as[smithy.APIError](err).ErrorMessage(), "Consistent reads are not supported on global secondary indexes")
	_, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: app, Key: key("x", "x"), UpdateExpression: aws.String("SET size = :v"),
		ExpressionAttributeValues: wire(thing{":v": 1})})
	equal(as[smithy.APIError](err).ErrorMessage(),
		"1 validation error detected: Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: size")
}

// Each costs one request: neither a mistake nor an answer about the data is worth a second try.
func notRetried() {
	before := requests()
	invalid()
	conditionInput := &dynamodb.DeleteItemInput{TableName: app, Key: key("none", "none"), ConditionExpression: aws.String("attribute_exists(PK)")}
	_, err := client.DeleteItem(ctx, conditionInput)
	as[*types.ConditionalCheckFailedException](err)
	_, err = client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("absent")})
	as[*types.ResourceNotFoundException](err)
	as[*types.TransactionCanceledException](signUp("3"))
	_, err = addOnce(3)
	as[*types.IdempotentParameterMismatchException](err)
	equal(requests()-before, 5)
}

func deleteTable() {
	must(client.CreateTable(ctx, appTable("gone")))
	must(client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("gone")}))
	equal(dynamodb.NewTableNotExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("gone")}, time.Minute), nil)
	_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("gone")})
	as[*types.ResourceNotFoundException](err)
}

func signatures() {
	list := func(secret string) error {
		// Not from the other client's options: their signer keeps the key that it derived, by the access key's name alone.
		signed := dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: aws.String(os.Getenv("DYNALITH_VERIFY_URL")),
			Credentials: credentials.NewStaticCredentialsProvider("local", secret, "")})
		_, err := signed.ListTables(ctx, &dynamodb.ListTablesInput{ExclusiveStartTableName: aws.String("a-b_c.d")})
		return err
	}
	equal(list("local"), nil)
	equal(as[smithy.APIError](list("wrong")).ErrorCode(), "InvalidSignatureException")
}

// The answer is lost on its way: the SDK tries again with the same token, and the transaction is applied once.
func lostAnswer() {
	before, sent := requests(), 0
	losing := dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.HTTPClient = smithyhttp.ClientDoFunc(func(request *http.Request) (*http.Response, error) {
			response, err := http.DefaultClient.Do(request)
			if sent++; sent == 1 && err == nil {
				response.Body.Close()
				return nil, io.ErrUnexpectedEOF
			}
			return response, err
		})
	})
	must(losing.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Update: &types.Update{TableName: app, Key: key("LOST", "1"), UpdateExpression: aws.String("ADD n :q"),
			ExpressionAttributeValues: wire(thing{":q": 1})}}}}))
	equal([]int{sent, requests() - before}, []int{2, 2})
	equal(get("LOST", "1")["n"], 1.0)
}
