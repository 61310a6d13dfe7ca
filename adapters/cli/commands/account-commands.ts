/** The commands `accounts` and `users`. */
import type { Endpoint } from 'hookswitch/client'
import { defined, wrongFlag } from '../read-flags.js'
import { callCommand, listCommand, textCommand } from './api-commands.js'
import type { Command, CommandContext, Flag, Operand } from './command.js'
import type { Column } from './table.js'
import { confirm, DOCUMENT_FLAGS, documentFrom, IF_MATCH, readSecretFile, YES } from './values.js'

const ACCOUNT = '/accounts/{account_id}'
const USERS = `${ACCOUNT}/users`
const USER = `${USERS}/{user_id}`

/** Routes that this version of the client may not have; `ifMatch` is sent where it is given. */
const endpoint = (method: Endpoint['method'], path: string): Endpoint => ({
  method,
  path,
  headers: { ifMatch: 'If-Match' },
})

const ACCOUNT_COLUMNS: readonly Column[] = [
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'NAME', value: 'name' },
  { title: 'REALM', value: 'realm' },
]
const CHILD_COLUMNS: readonly Column[] = [...ACCOUNT_COLUMNS, { title: 'BELOW', value: 'descendants_count' }]
const USER_COLUMNS: readonly Column[] = [
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'USERNAME', value: 'username' },
  { title: 'FIRST NAME', value: 'first_name' },
  { title: 'LAST NAME', value: 'last_name' },
  { title: 'EMAIL', value: 'email' },
  { title: 'ROLE', value: 'priv_level' },
  { title: 'ENABLED', value: 'enabled' },
]

const accountOperand: Operand = {
  name: 'ACCOUNT',
  description: 'id of an account; default: --account',
  isOptional: true,
}
const userOperand: Operand = { name: 'USER', description: 'id of a user' }

const ACCOUNT_FIELDS: readonly Flag[] = [
  { name: 'name', value: 'TEXT', description: 'name of the account' },
  { name: 'realm', value: 'REALM', description: 'realm of the account' },
  {
    name: 'enabled',
    value: 'true|false',
    values: ['true', 'false'],
    description: 'whether its logins and webhooks work',
  },
  { name: 'timezone', value: 'ZONE', description: 'such as Europe/Berlin' },
  { name: 'language', value: 'TAG', description: 'such as en-us' },
]
const USER_FIELDS: readonly Flag[] = [
  { name: 'username', value: 'NAME', description: 'name for logins' },
  { name: 'first-name', value: 'TEXT', description: 'first name' },
  { name: 'last-name', value: 'TEXT', description: 'last name' },
  { name: 'email', value: 'ADDRESS', description: 'e-mail address' },
  { name: 'priv-level', value: 'user|admin', values: ['user', 'admin'], description: 'what the user may do' },
  {
    name: 'enabled',
    value: 'true|false',
    values: ['true', 'false'],
    description: 'whether the user may log in',
  },
]
const PASSWORD_FILE: Flag = {
  name: 'password-file',
  value: 'FILE',
  isFile: true,
  description: 'file with the password (HOOKSWITCH_USER_PASSWORD holds the password itself)',
}

const names = (flags: readonly Flag[]) => flags.map(({ name }) => name)
const account = (context: CommandContext) => defined({ accountId: context.operand('ACCOUNT') })
const ifMatch = (context: CommandContext) => defined({ ifMatch: context.flag('if-match') })

/** The fields of a user, with the password of the file or the environment. */
async function userDocument(context: CommandContext): Promise<Readonly<Record<string, unknown>>> {
  const document = await documentFrom(context, names(USER_FIELDS))
  const path = context.flag('password-file')
  if (path !== undefined)
    return { ...document, password: await readSecretFile(context, path, '--password-file') }
  const password = context.env.HOOKSWITCH_USER_PASSWORD
  if (password === '') throw wrongFlag('HOOKSWITCH_USER_PASSWORD', 'must not be empty')
  return password === undefined ? document : { ...document, password }
}

/** A list of accounts at or below an account. */
const accountList = (word: string, summary: string, path: string, columns: readonly Column[]): Command =>
  listCommand(
    { words: ['accounts', word], summary, operands: [accountOperand] },
    columns,
    (client, context, pageSize) => client.list<object>(path, { ...account(context), pageSize }),
  )

export const ACCOUNT_COMMANDS: readonly Command[] = [
  listCommand(
    {
      words: ['accounts', 'list'],
      summary: 'list all accounts of the service',
      details: "Only for an operator's key; other keys list what is below them with 'accounts descendants'.",
    },
    ACCOUNT_COLUMNS,
    (client, _, pageSize) => client.list<object>('/accounts', { pageSize }),
  ),
  accountList(
    'children',
    'list the accounts directly below an account',
    `${ACCOUNT}/children`,
    CHILD_COLUMNS,
  ),
  accountList('descendants', 'list all accounts below an account', `${ACCOUNT}/descendants`, ACCOUNT_COLUMNS),
  accountList('ancestors', 'list the accounts above an account', `${ACCOUNT}/tree`, ACCOUNT_COLUMNS),
  callCommand(
    { words: ['accounts', 'get'], summary: 'show an account', operands: [accountOperand] },
    (client, context) => client.request(endpoint('GET', ACCOUNT), account(context)),
  ),
  callCommand(
    {
      words: ['accounts', 'create'],
      summary: 'create an account below --account',
      flags: [...ACCOUNT_FIELDS, ...DOCUMENT_FLAGS],
    },
    async (client, context) => {
      const data = await documentFrom(context, names(ACCOUNT_FIELDS))
      return client.request(endpoint('PUT', ACCOUNT), { data })
    },
  ),
  callCommand(
    {
      words: ['accounts', 'update'],
      summary: 'change fields of an account',
      operands: [accountOperand],
      flags: [...ACCOUNT_FIELDS, ...DOCUMENT_FLAGS, IF_MATCH],
    },
    async (client, context) => {
      const data = await documentFrom(context, names(ACCOUNT_FIELDS))
      return client.request(endpoint('PATCH', ACCOUNT), { ...account(context), ...ifMatch(context), data })
    },
  ),
  callCommand(
    {
      words: ['accounts', 'delete'],
      summary: 'delete an account with its users, webhooks and keys',
      operands: [{ name: 'ACCOUNT', description: 'id of an account without descendants' }],
      flags: [YES, IF_MATCH],
    },
    async (client, context) => {
      confirm(context, 'the account cannot be restored')
      return client.request(endpoint('DELETE', ACCOUNT), { ...account(context), ...ifMatch(context) })
    },
  ),
  callCommand(
    {
      words: ['accounts', 'move'],
      summary: 'move an account below another one',
      operands: [{ name: 'ACCOUNT', description: 'id of the account to move' }],
      flags: [{ name: 'to', value: 'ID', description: 'the new parent' }],
    },
    async (client, context) => {
      const to = context.flag('to')
      if (to === undefined) throw wrongFlag('--to', 'is required: the new parent')
      return client.request(endpoint('POST', `${ACCOUNT}/move`), { ...account(context), data: { to } })
    },
  ),
  textCommand(
    {
      words: ['accounts', 'api-key'],
      summary: "print the account's API key",
      operands: [accountOperand],
      flags: [{ name: 'rotate', description: 'make a new key; the old one is invalid at once' }, YES],
    },
    async (client, context) => {
      const isRotation = context.has('rotate')
      if (isRotation) confirm(context, 'the old key and its tokens stop working at once')
      const { data } = isRotation
        ? await client.rotateApiKey(account(context))
        : await client.readApiKey(account(context))
      return { text: data.api_key, document: data }
    },
  ),
]

export const USER_COMMANDS: readonly Command[] = [
  listCommand(
    { words: ['users', 'list'], summary: 'list the users of the account' },
    USER_COLUMNS,
    (client, _, pageSize) => client.list<object>(USERS, { pageSize }),
  ),
  callCommand(
    { words: ['users', 'get'], summary: 'show a user', operands: [userOperand] },
    (client, context) => client.request(endpoint('GET', USER), { userId: context.operand('USER') }),
  ),
  callCommand(
    {
      words: ['users', 'create'],
      summary: 'create a user',
      flags: [...USER_FIELDS, PASSWORD_FILE, ...DOCUMENT_FLAGS],
    },
    async (client, context) => {
      const data = await userDocument(context)
      return client.request(endpoint('PUT', USERS), { data })
    },
  ),
  callCommand(
    {
      words: ['users', 'update'],
      summary: 'change fields of a user',
      operands: [userOperand],
      flags: [...USER_FIELDS, PASSWORD_FILE, ...DOCUMENT_FLAGS, IF_MATCH],
    },
    async (client, context) => {
      const data = await userDocument(context)
      const userId = context.operand('USER')
      return client.request(endpoint('PATCH', USER), { userId, ...ifMatch(context), data })
    },
  ),
  callCommand(
    { words: ['users', 'delete'], summary: 'delete a user', operands: [userOperand], flags: [YES, IF_MATCH] },
    async (client, context) => {
      confirm(context, 'the user cannot be restored')
      return client.request(endpoint('DELETE', USER), {
        userId: context.operand('USER'),
        ...ifMatch(context),
      })
    },
  ),
]
