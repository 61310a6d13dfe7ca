/** The command `webhooks`. */
import type {
  HookswitchClient,
  ListUnhealthyWebhooksParameters,
  WebhookPatch,
  WebhookSettings,
} from 'hookswitch/client'
import { defined, wrongFlag } from '../read-flags.js'
import { callCommand, listCommand, textCommand } from './api-commands.js'
import type { Command, CommandContext, Flag, Operand } from './command.js'
import type { Column } from './table.js'
import { confirm, DOCUMENT_FLAGS, documentFrom, IF_MATCH, YES } from './values.js'

const COLUMNS: readonly Column[] = [
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'NAME', value: 'name' },
  { title: 'HOOK', value: 'hook' },
  { title: 'URI', value: 'uri' },
  { title: 'ENABLED', value: 'enabled' },
  { title: 'HEALTH', value: healthOf },
]
/** Columns of webhooks of several accounts that need attention. */
const FAILING_COLUMNS: readonly Column[] = [
  { title: 'ACCOUNT', value: 'account_id', isWhole: true },
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'NAME', value: 'name' },
  { title: 'HEALTH', value: (endpoint) => withReason(endpoint, endpoint.state) },
  { title: 'FAILURES', value: 'failures_in_row' },
  { title: 'SINCE', value: 'failing_since' },
  { title: 'PAUSED UNTIL', value: 'paused_until' },
  { title: 'PENDING', value: 'pending' },
  { title: 'LAST ATTEMPT', value: ({ last }) => (last as Fields | undefined)?.sent_at },
  { title: 'URI', value: 'uri' },
]

type Fields = Readonly<Record<string, unknown>>

/** The state, and why the service disabled the webhook. */
function healthOf(webhook: Fields): unknown {
  return withReason(webhook, (webhook.health as Fields | undefined)?.state)
}

function withReason({ disable_reason: reason }: Fields, state: unknown): unknown {
  return reason === undefined ? state : `${state}: ${reason}`
}

const ALL: Flag = { name: 'all', description: "of all accounts, with an operator's key" }

/** Holds or releases the deliveries of `--account`, or those of all accounts. */
function setHold(held: boolean) {
  return async (client: HookswitchClient, context: CommandContext) => {
    const accountId = context.flag('account')
    if (context.has('all') === (accountId !== undefined))
      throw wrongFlag('--all', 'or --account is required, and not both')
    return client.setHold({ data: { held, ...defined({ account_id: accountId }) } })
  }
}

const FIELDS: readonly Flag[] = [
  { name: 'name', value: 'TEXT', description: 'label of the webhook' },
  { name: 'uri', value: 'URL', description: 'URL that receives the requests' },
  { name: 'hook', value: 'HOOK', description: "kind of event ('events hooks' lists them), or all" },
  {
    name: 'http-verb',
    value: 'METHOD',
    values: ['get', 'post', 'put', 'patch', 'delete'],
    description: 'HTTP method of the requests (post)',
  },
  {
    name: 'format',
    value: 'FORMAT',
    values: ['json', 'form-data'],
    description: 'body of the requests (json)',
  },
  {
    name: 'retries',
    value: 'N',
    description: 'retries after the first attempt (what the service sets, 2 otherwise)',
  },
  {
    name: 'enabled',
    value: 'true|false',
    values: ['true', 'false'],
    description: 'whether events are delivered (true)',
  },
  { name: 'group', value: 'TEXT', description: 'label for grouping' },
]
const FIELD_NAMES = FIELDS.map(({ name }) => name)

const webhook: Operand = { name: 'WEBHOOK', description: 'id of a webhook' }
const webhookId = (context: CommandContext) => context.operand('WEBHOOK')!
const ifMatch = (context: CommandContext) => defined({ ifMatch: context.flag('if-match') })

export const WEBHOOK_COMMANDS: readonly Command[] = [
  listCommand(
    { words: ['webhooks', 'list'], summary: 'list the webhooks of the account' },
    COLUMNS,
    (client, _, pageSize) => client.listWebhooks({ pageSize }),
  ),
  listCommand(
    {
      words: ['webhooks', 'failing'],
      summary: 'list the webhooks of all accounts that need attention',
      details:
        "Those that fail, are paused, or were disabled by the service. Only for an operator's key: 'webhooks list'\nshows the health of one account's.",
      flags: [
        {
          name: 'health',
          value: 'HEALTH',
          values: ['failing', 'paused', 'disabled'],
          description: 'only in this state',
        },
      ],
    },
    FAILING_COLUMNS,
    (client, context, pageSize) =>
      client.listUnhealthyWebhooks({
        pageSize,
        ...(defined({ state: context.flag('health') }) as Pick<ListUnhealthyWebhooksParameters, 'state'>),
      }),
  ),
  callCommand(
    { words: ['webhooks', 'get'], summary: 'show a webhook', operands: [webhook] },
    (client, context) => client.readWebhook({ webhookId: webhookId(context) }),
  ),
  callCommand(
    { words: ['webhooks', 'create'], summary: 'create a webhook', flags: [...FIELDS, ...DOCUMENT_FLAGS] },
    async (client, context) => {
      const data = await documentFrom(context, FIELD_NAMES)
      // The service checks the document and names every violated rule.
      return client.createWebhook({ data: data as unknown as WebhookSettings })
    },
  ),
  callCommand(
    {
      words: ['webhooks', 'update'],
      summary: 'change fields of a webhook',
      operands: [webhook],
      flags: [...FIELDS, ...DOCUMENT_FLAGS, IF_MATCH],
    },
    async (client, context) => {
      const data = (await documentFrom(context, FIELD_NAMES)) as WebhookPatch
      return client.patchWebhook({ webhookId: webhookId(context), ...ifMatch(context), data })
    },
  ),
  callCommand(
    {
      words: ['webhooks', 'replace'],
      summary: 'replace all fields of a webhook; omitted ones get their defaults',
      operands: [webhook],
      flags: [...FIELDS, ...DOCUMENT_FLAGS, IF_MATCH],
    },
    async (client, context) => {
      const data = (await documentFrom(context, FIELD_NAMES)) as unknown as WebhookSettings
      return client.replaceWebhook({ webhookId: webhookId(context), ...ifMatch(context), data })
    },
  ),
  callCommand(
    {
      words: ['webhooks', 'delete'],
      summary: 'delete a webhook and cancel its waiting deliveries',
      operands: [webhook],
      flags: [YES, IF_MATCH],
    },
    async (client, context) => {
      confirm(context, 'the webhook cannot be restored')
      return client.deleteWebhook({ webhookId: webhookId(context), ...ifMatch(context) })
    },
  ),
  callCommand(
    { words: ['webhooks', 'test'], summary: 'send a sample event now', operands: [webhook] },
    (client, context) => client.testWebhook({ webhookId: webhookId(context) }),
  ),
  callCommand(
    {
      words: ['webhooks', 'resume'],
      summary: 'end the pause of a webhook, so that what waits is sent now',
      details:
        'While the receiver fails, one delivery at a time is sent; another failure begins a new pause.',
      operands: [webhook],
    },
    (client, context) => client.resumeWebhook({ webhookId: webhookId(context) }),
  ),
  callCommand(
    {
      words: ['webhooks', 'hold'],
      summary: 'hold deliveries: events are accepted, nothing is sent until webhooks release',
      details:
        'For operators. Requests in flight end; other nodes follow within 10 s; a restart does not end it. Deliveries above ' +
        'the age of their webhook expire when they are released.',
      flags: [ALL],
    },
    setHold(true),
  ),
  callCommand(
    {
      words: ['webhooks', 'release'],
      summary: 'send what webhooks hold or serve --hold holds',
      details: 'For operators. With --all, accounts that are held by themselves stay so.',
      flags: [ALL],
    },
    setHold(false),
  ),
  callCommand(
    { words: ['webhooks', 'held'], summary: 'show what is held', details: 'For operators.' },
    (client) => client.readHolds(),
  ),
  textCommand(
    {
      words: ['webhooks', 'secret'],
      summary: 'print the signing secret',
      operands: [webhook],
      flags: [
        { name: 'rotate', description: 'make a new secret; for 24 hours requests are signed with both' },
        YES,
      ],
    },
    async (client, context) => {
      const isRotation = context.has('rotate')
      if (isRotation) confirm(context, 'the old secret stops working after 24 hours')
      const parameters = { webhookId: webhookId(context) }
      const { data } = isRotation
        ? await client.rotateSecret(parameters)
        : await client.readSecret(parameters)
      return { text: data.secret, document: data }
    },
  ),
  callCommand(
    {
      words: ['webhooks', 'reenable'],
      summary: 'enable the webhooks that the service has disabled',
      flags: [{ name: 'descendants', description: 'also those of all accounts below' }],
    },
    (client, context) => {
      const parameters = { data: { 're-enable': true } } as const
      return context.has('descendants')
        ? client.reenableDescendantWebhooks(parameters)
        : client.reenableWebhooks(parameters)
    },
  ),
]
