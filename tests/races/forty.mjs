// What 200 orders of a test with 40 requests cost: forty.mjs MODULES [in-process]. By races() of the package for npm, in one process, with servers or engines in it. Fails beyond 60 s, or where a run takes five times the plain one.
import { createRequire } from 'node:module';

const { races } = await import(`../../packaging/npm/${process.argv[3] ?? 'index'}.mjs`);
const ORDERS = 200, TIMES_MAX = 5, SECONDS_MAX = 60;
const { CreateTableCommand, DynamoDBClient, UpdateItemCommand } = createRequire(`${process.argv[2]}/x.js`)('@aws-sdk/client-dynamodb');
const TableName = 'shop';

async function visits(config) {
    const client = new DynamoDBClient(config);
    for (let i = 0; i < 20; i++)
        await client.send(new UpdateItemCommand({ TableName, Key: { pk: { S: `page ${i % 4}` } }, UpdateExpression: 'ADD n :i', ExpressionAttributeValues: { ':i': { N: String(i) } } }));
    client.destroy();
}

const began = Date.now();
const told = await races((config) => visits(config), (config) => visits(config), {
    budget: ORDERS,
    async before(config) {
        const client = new DynamoDBClient(config);
        await client.send(new CreateTableCommand({
            TableName, BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        }));
        client.destroy();
    },
});
const seconds = (Date.now() - began) / 1000;
const [, requests, plain] = told.match(/with (\d+) requests in (\d+) ms/);
const [, runs, orders] = told.match(/in (\d+) runs, with (\d+) different orders/);
const times = 1000 * seconds / runs / plain;
console.log(`${requests} requests: ${runs} runs with ${orders} orders in ${seconds.toFixed(1)} s, ${(1000 * seconds / runs).toFixed(0)} ms each; the plain one ${plain} ms: ${times.toFixed(1)} times`);
process.exit(seconds <= SECONDS_MAX && times <= TIMES_MAX ? 0 : 1);
