// Races that programs have had, each with a twin that has none: node cases.mjs NAME wrong|right
import {
    BatchWriteItemCommand, CreateTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand, TransactWriteItemsCommand, UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';

const client = new DynamoDBClient({ maxAttempts: 5 });
const TableName = 'shop';
const [name, twin] = process.argv.slice(2);
const isRight = twin === 'right';
const S = (text) => ({ S: text });
const N = (number) => ({ N: String(number) });

const get = async (pk) => (await client.send(new GetItemCommand({ TableName, Key: { pk: S(pk) }, ConsistentRead: true }))).Item;
const put = (Item, more = {}) => client.send(new PutItemCommand({ TableName, Item, ...more }));
const update = (pk, UpdateExpression, values, ConditionExpression) => client.send(new UpdateItemCommand({
    TableName, Key: { pk: S(pk) }, UpdateExpression, ExpressionAttributeValues: values, ConditionExpression,
}));
const isRefused = (error) => ['ConditionalCheckFailedException', 'TransactionCanceledException'].includes(error.name);
const tried = (promise) => promise.then(() => true, (error) => { if (isRefused(error)) return false; throw error; });

function check(isFine, text) {
    if (!isFine) {
        console.error(text);
        process.exitCode = 1;
    }
}

// Two at a time, the second a little later, as two users do.
const later = (work) => new Promise((done) => setTimeout(done, 40)).then(work);
const both = (one, other) => Promise.all([one(), later(other)]);

const cases = {
    async counter() {
        const visit = async () => {
            if (isRight) return update('page', 'ADD n :one', { ':one': N(1) });
            const item = await get('page');
            return put({ pk: S('page'), n: N(Number(item?.n.N ?? 0) + 1) });
        };
        await both(visit, visit);
        check((await get('page')).n.N === '2', 'two visits, one counted');
    },

    async stock() {
        await put({ pk: S('book'), left: N(1) });
        const buy = async () => {
            if (isRight) return tried(update('book', 'SET #left = #left - :one', { ':one': N(1) }, '#left >= :one'));
            if (Number((await get('book')).left.N) < 1) return false;
            await update('book', 'ADD #left :less', { ':less': N(-1) });
            return true;
        };
        const sold = await both(buy, buy);
        check(sold.filter(Boolean).length === 1, 'one book, sold twice');
    },

    async email() {
        const register = async (user) => {
            if (isRight) {
                return tried(client.send(new TransactWriteItemsCommand({ TransactItems: [
                    { Put: { TableName, Item: { pk: S('EMAIL#a@example.com') }, ConditionExpression: 'attribute_not_exists(pk)' } },
                    { Put: { TableName, Item: { pk: S(user), email: S('a@example.com') } } },
                ] })));
            }
            const { Count } = await client.send(new QueryCommand({
                TableName, IndexName: 'email', KeyConditionExpression: 'email = :e', ExpressionAttributeValues: { ':e': S('a@example.com') },
            }));
            if (Count > 0) return false;
            await put({ pk: S(user), email: S('a@example.com') });
            return true;
        };
        const done = await both(() => register('USER#1'), () => register('USER#2'));
        check(done.filter(Boolean).length === 1, 'one address, two users');
    },

    async seat() {
        const book = async (who) => {
            if (!isRight && await get('SEAT#12A')) return false;
            return tried(put({ pk: S('SEAT#12A'), who: S(who) }, isRight ? { ConditionExpression: 'attribute_not_exists(pk)' } : {}));
        };
        const booked = await both(() => book('Ann'), () => book('Bob'));
        check(booked.filter(Boolean).length === 1, 'one seat, two bookings');
    },

    async list() {
        await put({ pk: S('chat'), lines: { L: [] } });
        const say = async (text) => {
            if (isRight) return update('chat', 'SET #lines = list_append(#lines, :new)', { ':new': { L: [S(text)] } });
            const item = await get('chat');
            return update('chat', 'SET #lines = :all', { ':all': { L: [...item.lines.L, S(text)] } });
        };
        await both(() => say('hello'), () => say('good day'));
        check((await get('chat')).lines.L.length === 2, 'two lines said, one kept');
    },

    // Two workers of one stream: each takes the records behind the position that it finds, and notes its own.
    async stream() {
        const work = async () => {
            const from = Number((await get('position'))?.n.N ?? 0);
            if (from >= 3) return;
            if (isRight) {
                await tried(client.send(new TransactWriteItemsCommand({ TransactItems: [
                    { Update: { TableName, Key: { pk: S('total') }, UpdateExpression: 'ADD n :all', ExpressionAttributeValues: { ':all': N(3 - from) } } },
                    { Put: {
                        TableName, Item: { pk: S('position'), n: N(3) }, ConditionExpression: 'attribute_not_exists(n) OR n = :from',
                        ExpressionAttributeValues: { ':from': N(from) },
                    } },
                ] })));
                return;
            }
            await update('total', 'ADD n :all', { ':all': N(3 - from) });
            await put({ pk: S('position'), n: N(3) });
        };
        await both(work, work);
        check((await get('total')).n.N === '3', 'records were counted twice');
    },

    // With --throttling: what a batch leaves undone is forgotten.
    async batch() {
        let left = { [TableName]: ['x', 'y', 'z'].map((pk) => ({ PutRequest: { Item: { pk: S(pk) } } })) };
        do left = (await client.send(new BatchWriteItemCommand({ RequestItems: left }))).UnprocessedItems;
        while (isRight && Object.keys(left).length > 0);
        check((await Promise.all(['x', 'y', 'z'].map(get))).every(Boolean), 'an item of the batch is missing');
    },

    // With --lost-answers: the SDK sends again what was done already.
    async charge() {
        await put({ pk: S('account'), balance: N(100) });
        await update('account', isRight ? 'SET balance = :rest' : 'ADD balance :less', isRight ? { ':rest': N(70) } : { ':less': N(-30) });
        check((await get('account')).balance.N === '70', 'charged twice');
    },
};

// Reserved words as names of attributes.
const send = client.send.bind(client);
client.send = (command) => {
    const text = `${command.input.UpdateExpression ?? ''} ${command.input.ConditionExpression ?? ''}`;
    const names = text.match(/#\w+/g);
    if (names) command.input.ExpressionAttributeNames = Object.fromEntries(names.map((one) => [one, one.slice(1)]));
    return send(command);
};

await client.send(new CreateTableCommand({
    TableName, BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'email', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [{
        IndexName: 'email', KeySchema: [{ AttributeName: 'email', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' },
    }],
}));
await cases[name]();
