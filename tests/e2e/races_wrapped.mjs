// A counter, raced by races() of the package for npm: races_wrapped.mjs server|in-process wrong|right MODULES FOLDER [ORDER]. Prints what was tried, or throws the order that fails.
import { createRequire } from 'node:module';

const [engine, twin, modules, out, order] = process.argv.slice(2);
const { CreateTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } = createRequire(`${modules}/x.js`)('@aws-sdk/client-dynamodb');
const { races } = await import(`../../packaging/npm/${engine === 'server' ? 'index' : 'in-process'}.mjs`);
const TableName = 'shop';
const Key = { pk: { S: 'page' } };

async function withClient(config, work) {
    const client = new DynamoDBClient(config);
    try {
        return await work(client);
    } finally {
        client.destroy();
    }
}

const count = async (client) => Number((await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item?.n.N ?? 0);
const visit = (config) => withClient(config, async (client) => {
    if (twin === 'right') await client.send(new UpdateItemCommand({ TableName, Key, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } } }));
    else await client.send(new PutItemCommand({ TableName, Item: { ...Key, n: { N: String(await count(client) + 1) } } }));
});
const ann = (config) => visit(config);
const bob = (config) => new Promise((done) => setTimeout(done, 50)).then(() => visit(config));

console.log(await races(ann, bob, {
    budget: 20, out, ...(order && { order }),
    before: (config) => withClient(config, (client) => client.send(new CreateTableCommand({
        TableName, BillingMode: 'PAY_PER_REQUEST', AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }))),
    check: (config) => withClient(config, async (client) => {
        if (await count(client) !== 2) throw new Error('two visits, one counted');
    }),
}));
