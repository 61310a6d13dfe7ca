/** The command `webhooks`. */
import type { ListUnhealthyWebhooksParameters, WebhookPatch, WebhookSettings } from 'hookswitch/client'
import { defined } from '../read-flags.js'
import { callCommand, listCommand, textCommand } from './api-commands.js'
import { holdDeliveries, reenableWebhooks, resumeWebhooks, SELECTION, selectionOf } from './bulk-commands.js'
import type { Command, CommandContext, Flag, Operand } from './command.js'
import type { Column } from './table.js'
import { confirm, DOCUMENT_FLAGS, documentFrom, IF_MATCH, YES } from './values.js'

const COLUMNS: readonly Column[] = [
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'NAME', value: 'name' },
  { title: 'HOOK', value: 'hook' },
  { title: 'URI', value: 'uri', isCutInMiddle: true },
  { title: 'ENABLED', value: 'enabled' },
  { title: 'HEALTH', value: healthOf },
]
/** Columns of webhooks of several accounts that need attention. */
const FAILING_COLUMNS: readonly Column[] = [
  { title: 'ACCOUNT', value: 'account_id', isWhole: true },
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'NAME', value: 'name' },
  { title: 'HEALTH', value: (endpoint) => withReason(endpoint, endpoint.state) },
  { title: 'CAUSE', value: ({ cause, last }) => cause ?? (last as Fields | undefined)?.resp_status_code },
  { title: 'WAITING', value: ({ pending, pending_capped }) => `${pending}${pending_capped ? '+' : ''}` },
  { title: 'GIVEN UP', value: 'exhausted' },
  { title: 'SINCE', value: 'failing_since', isTime: true },
  { title: 'NEXT TRY', value: 'paused_until', isTime: true },
  { title: 'LAST ATTEMPT', value: ({ last }) => (last as Fields | undefined)?.sent_at, isTime: true },
  { title: 'URI', value: 'uri', isCutInMiddle: true },
]

type Fields = Readonly<Record<string, unknown>>

/** The state, and why the service disabled the webhook. */
function healthOf(webhook: Fields): unknown {
  return withReason(webhook, (webhook.health as Fields | undefined)?.state)
}

function withReason({ disable_reason: reason }: Fields, state: unknown): unknown {
  return reason === undefined ? state : `${state}: ${reason}`
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
        'Those that fail, are paused, or were disabled by the service; first those that hurt most: deliveries that wait or were ' +
        'given up since the last success, plus 1, times the time since then. --account narrows it to one account. Only for an ' +
        "operator's key: 'webhooks list' shows the health of one account's.",
      flags: [
        {
          name: 'health',
          value: 'HEALTH',
          values: ['failing', 'paused', 'disabled'],
          description: 'only in this state',
        },
        ...SELECTION,
      ],
    },
    FAILING_COLUMNS,
    (client, context, pageSize) => {
      const { account_id: accountId, ...selection } = selectionOf(context)
      const state = context.flag('health') as ListUnhealthyWebhooksParameters['state']
      return client.listUnhealthyWebhooks({
        pageSize,
        sort: 'impact',
        ...defined({ state, accountId }),
        ...selection,
      })
    },
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
  resumeWebhooks,
  holdDeliveries('hold'),
  holdDeliveries('release'),
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
  reenableWebhooks,
]
