// Races that programs have had, each with a twin that has none: races NAME wrong|right (tests/races/run)
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

var (
	client  *dynamodb.Client
	isRight bool
	ctx     = context.Background()
	shop    = aws.String("shop")
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

func key(pk, sk string) item { return item{"pk": text(pk), "sk": text(sk)} }

func with(key item, name string, value types.AttributeValue) item {
	key[name] = value
	return key
}

func get(pk, sk string) item {
	return must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: shop, Key: key(pk, sk), ConsistentRead: aws.Bool(true)})).Item
}

func numberOf(found item, name string) int {
	n, _ := found[name].(*types.AttributeValueMemberN)
	if n == nil {
		return 0
	}
	return must(strconv.Atoi(n.Value))
}

// tried is false where a condition failed.
func tried(err error) bool {
	var failed *types.ConditionalCheckFailedException
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &failed) || errors.As(err, &cancelled) {
		return false
	}
	if err != nil {
		panic(err)
	}
	return true
}

// put writes the item where the condition holds; "" is none.
func put(what item, condition string, values item) bool {
	input := &dynamodb.PutItemInput{TableName: shop, Item: what, ExpressionAttributeValues: values}
	if condition != "" {
		input.ConditionExpression = &condition
	}
	_, err := client.PutItem(ctx, input)
	return tried(err)
}

func update(pk, sk, expression string, values item, condition string) bool {
	input := &dynamodb.UpdateItemInput{TableName: shop, Key: key(pk, sk), UpdateExpression: &expression, ExpressionAttributeValues: values}
	if condition != "" {
		input.ConditionExpression = &condition
	}
	_, err := client.UpdateItem(ctx, input)
	return tried(err)
}

// both runs the two, the second a little later, as two users do.
func both(one, other func()) {
	var done sync.WaitGroup
	for i, work := range []func(){one, other} {
		done.Add(1)
		go func() {
			defer done.Done()
			time.Sleep(time.Duration(i) * 60 * time.Millisecond)
			work()
		}()
	}
	done.Wait()
}

func check(isFine bool, what string) {
	if !isFine {
		fmt.Println(what)
		os.Exit(1)
	}
}

// A queue is emptied page by page; what is added behind the pages is forgotten.
func pages() {
	add := func(sk string) {
		put(key("queue", sk), "", nil)
		update("count", "-", "ADD n :one", item{":one": number(1)}, "")
	}
	add("b")
	add("c")
	empty := func() {
		pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
			TableName: shop, KeyConditionExpression: aws.String("pk = :q"), ExpressionAttributeValues: item{":q": text("queue")}, Limit: aws.Int32(1), ConsistentRead: aws.Bool(true),
		})
		for pages.HasMorePages() {
			for _, found := range must(pages.NextPage(ctx)).Items {
				must(client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: shop, Key: item{"pk": found["pk"], "sk": found["sk"]}}))
				if isRight {
					update("count", "-", "ADD n :less", item{":less": number(-1)}, "")
				}
			}
		}
		if !isRight {
			put(with(key("count", "-"), "n", number(0)), "", nil)
		}
	}
	both(empty, func() { add("a") })
	left := must(client.Query(ctx, &dynamodb.QueryInput{
		TableName: shop, KeyConditionExpression: aws.String("pk = :q"), ExpressionAttributeValues: item{":q": text("queue")}, ConsistentRead: aws.Bool(true),
	})).Count
	check(int(left) == numberOf(get("count", "-"), "n"), "the count is not that of the queue")
}

// A condition on a version that the first write does not set.
func version() {
	made := [2]bool{}
	create := func(i int, who string) func() {
		return func() {
			if get("profile", "-") != nil {
				return
			}
			first := with(key("profile", "-"), "who", text(who))
			if isRight {
				first["version"] = number(1)
			}
			made[i] = put(first, "attribute_not_exists(version)", nil)
		}
	}
	both(create(0, "ann"), create(1, "bob"))
	check(made[0] != made[1], "two made the profile, and one is lost")
}

// A saga that fails puts back what it has read, and not what it has taken.
func saga() {
	put(with(key("stock", "-"), "n", number(10)), "", nil)
	fail := func() {
		before := numberOf(get("stock", "-"), "n")
		update("stock", "-", "ADD n :less", item{":less": number(-1)}, "")
		if isRight {
			update("stock", "-", "ADD n :one", item{":one": number(1)}, "")
		} else {
			update("stock", "-", "SET n = :before", item{":before": number(before)}, "")
		}
	}
	both(fail, func() { update("stock", "-", "ADD n :less", item{":less": number(-1)}, "") })
	check(numberOf(get("stock", "-"), "n") == 9, "one was sold, and it is in stock again")
}

// A leader whose lease has run out writes what the next one has written already.
func lease() {
	lead := func(who string, epoch int) {
		now := int(time.Now().UnixMilli())
		leased := with(with(with(key("lease", "-"), "who", text(who)), "until", number(now+20)), "epoch", number(epoch))
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: shop, Item: leased, ConditionExpression: aws.String("attribute_not_exists(pk) OR #until < :now"),
			ExpressionAttributeNames: map[string]string{"#until": "until"}, ExpressionAttributeValues: item{":now": number(now)},
		}); !tried(err) {
			return
		}
		if holder, _ := get("lease", "-")["who"].(*types.AttributeValueMemberS); holder.Value != who {
			return
		}
		result := with(key("result", "-"), "epoch", number(epoch))
		if isRight {
			put(result, "attribute_not_exists(pk) OR epoch < :mine", item{":mine": number(epoch)})
		} else {
			put(result, "", nil)
		}
	}
	both(func() { lead("ann", 1) }, func() { lead("bob", 2) })
	check(numberOf(get("result", "-"), "epoch") == numberOf(get("lease", "-"), "epoch"), "the result is an old leader's")
}

// A token that is made of what was read is the same for two who have read the same.
func token() {
	buy := func() {
		n := numberOf(get("cart", "-"), "n")
		token := fmt.Sprintf("cart-%d", n)
		if isRight {
			token = fmt.Sprint(time.Now().UnixNano())
		}
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: &token, TransactItems: []types.TransactWriteItem{{Update: &types.Update{
				TableName: shop, Key: key("cart", "-"), UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": number(1)},
			}}},
		})
		tried(err)
	}
	both(buy, buy)
	check(numberOf(get("cart", "-"), "n") == 2, "two were bought, and one is in the cart")
}

func main() {
	name := os.Args[1]
	isRight = os.Args[2] == "right"
	client = dynamodb.NewFromConfig(must(config.LoadDefaultConfig(ctx)))
	must(client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: shop, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("sk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
	}))
	map[string]func(){"pages": pages, "profile": version, "saga": saga, "lease": lease, "token": token}[name]()
}
