/** The commands `deliveries`, `attempts` and `erase`. */
import type { Attempt, HookswitchClient, List, ListAttemptsParameters } from 'hookswitch/client'
import { defined, wrongFlag } from '../read-flags.js'
import { callCommand, listCommand } from './api-commands.js'
import type { Command, CommandContext, Flag } from './command.js'
import type { Column } from './table.js'
import { confirm, integerFlag, TIME, timeFlag, YES } from './values.js'

const DELIVERY_COLUMNS: readonly Column[] = [
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'STATE', value: 'state' },
  { title: 'ATTEMPTS', value: 'attempts' },
  { title: 'NEXT', value: 'next_attempt_at', isTime: true },
  { title: 'CALL', value: 'call_id' },
  { title: 'EXPLANATION', value: 'explain' },
]
const STATUS: Column = {
  title: 'STATUS',
  value: (attempt) => attempt.resp_status_code ?? attempt.cause ?? attempt.client_error ?? attempt.reason,
}
const ATTEMPT_COLUMNS: readonly Column[] = [
  { title: 'TIME', value: 'sent_at', isWhole: true, isTime: true },
  { title: 'RESULT', value: 'result', isWhole: true },
  STATUS,
  { title: 'TRY', value: 'attempt' },
  { title: 'MS', value: 'duration_ms' },
  { title: 'HOOK', value: 'hook_event' },
  { title: 'DELIVERY', value: 'delivery_id', isWhole: true },
  { title: 'URI', value: 'uri', isCutInMiddle: true },
  { title: 'DETAIL', value: 'detail' },
]

const WEBHOOK: Flag = { name: 'webhook', value: 'ID', description: 'only of this webhook' }
export const STATE: Flag = {
  name: 'state',
  value: 'STATE',
  values: ['waiting', 'in_flight', 'delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'],
  description: 'only in this state',
}
/** States of deliveries that have not ended. */
export const PENDING = ['waiting', 'in_flight']
const CALL: Flag = { name: 'call', value: 'ID', description: 'only of this call, all its legs' }
export const RESULT: Flag = {
  name: 'result',
  value: 'RESULT',
  values: ['success', 'failure'],
  description: 'only with this result',
}
export const FROM: Flag = { name: 'from', value: 'TIME', description: `not older than ${TIME}` }
export const TO: Flag = { name: 'to', value: 'TIME', description: `not newer than ${TIME}` }

/** The list that `--webhook` and `--call` select. */
function attemptsOf(
  client: HookswitchClient,
  context: CommandContext,
  parameters: ListAttemptsParameters,
): List<Attempt> {
  const [webhookId, callId] = [context.flag('webhook'), context.flag('call')]
  if (webhookId !== undefined && callId !== undefined) {
    throw wrongFlag('--call', 'cannot be combined with --webhook')
  }
  const result = context.flag('result')
  const all = { ...parameters, ...(result === undefined ? {} : { filters: { filter_result: result } }) }
  if (webhookId !== undefined) return client.listWebhookAttempts({ webhookId, ...all })
  return callId === undefined ? client.listAttempts(all) : client.listCallAttempts({ callId, ...all })
}

const range = (context: CommandContext) =>
  defined({ createdFrom: timeFlag(context, 'from'), createdTo: timeFlag(context, 'to') })

/** Attempts that the tail begins with, if the flag does not say so. */
const TAIL_LINES = 10

const tail: Command = {
  words: ['attempts', 'tail'],
  isEndless: true,
  summary: 'print attempts as they are made, until Ctrl-C',
  details:
    'Reads the live stream of the service, and connects again when the connection is lost. Attempts have no headers and bodies.',
  flags: [
    WEBHOOK,
    CALL,
    RESULT,
    { name: 'lines', value: 'N', description: `begin with the latest N attempts (${TAIL_LINES})` },
  ],
  async run(context) {
    const client = context.client()
    const { signal, output } = context
    const lines = integerFlag(context, 'lines', 0) ?? TAIL_LINES
    const [webhookId, callId, result] = ['webhook', 'call', 'result'].map((name) => context.flag(name))
    const latest = attemptsOf(client, context, { pageSize: Math.min(Math.max(lines, 1), 1_000), slim: true })
    let opened = () => {}
    const isOpen = new Promise<void>((resolve) => {
      opened = resolve
    })
    const items = client
      .stream(
        {
          types: ['attempt'],
          ...defined({ webhookId, callId }),
          ...(result !== undefined && { result: result as 'success' | 'failure' }),
        },
        { signal, onState: (state) => state === 'open' && opened() },
      )
      [Symbol.asyncIterator]()
    let next = items.next()
    next.catch(() => {})
    await Promise.race([isOpen, next])
    // What is recorded while the latest attempts are read arrives twice.
    const shown = new Set<string>()
    if (lines > 0 && !signal.aborted) {
      const page = await latest.page().catch((thrown: { readonly status?: number }) => {
        // The call may not have begun.
        if (callId !== undefined && thrown.status === 404) return { items: [] }
        throw thrown
      })
      for (const attempt of [...page.items].reverse()) {
        shown.add(attempt.id)
        await output.item(attempt, ATTEMPT_COLUMNS)
      }
    }
    for (;;) {
      const { done, value: item } = await next
      if (done || signal.aborted) return
      next = items.next()
      if (item.type === 'attempt' && !shown.has(item.data.id)) await output.item(item.data, ATTEMPT_COLUMNS)
      if (item.type === 'gap') context.note('more attempts were made than can be shown: some are left out')
      if (item.type === 'rate') {
        const { hook_id, ok, failed } = item.data
        context.note(`webhook ${hook_id}: ${ok} attempts succeeded and ${failed} failed in one second`)
      }
    }
  },
}

export const DELIVERY_COMMANDS: readonly Command[] = [
  listCommand(
    {
      words: ['deliveries', 'list'],
      summary: 'list the deliveries of a webhook, newest first',
      operands: [{ name: 'WEBHOOK', description: 'id of a webhook' }],
      flags: [STATE, FROM, TO],
    },
    DELIVERY_COLUMNS,
    (client, context, pageSize) =>
      client.listDeliveries({
        webhookId: context.operand('WEBHOOK')!,
        pageSize,
        ...range(context),
        ...defined({ filterState: context.flag('state') }),
      }),
  ),
  listCommand(
    {
      words: ['deliveries', 'search'],
      summary: 'search the deliveries of all accounts, newest first',
      details: "Only for an operator's key. --account narrows it to one account.",
      flags: [WEBHOOK, CALL, STATE, FROM, TO],
    },
    [{ title: 'ACCOUNT', value: 'account_id', isWhole: true }, ...DELIVERY_COLUMNS],
    (client, context, pageSize) =>
      client.searchDeliveries({
        pageSize,
        ...range(context),
        ...defined({
          accountId: context.flag('account'),
          hookId: context.flag('webhook'),
          callId: context.flag('call'),
          state: context.flag('state'),
        }),
      }),
  ),
  callCommand(
    {
      words: ['deliveries', 'get'],
      summary: 'show a delivery and explain its state',
      operands: [{ name: 'DELIVERY', description: 'id of a delivery' }],
    },
    (client, context) => client.readDelivery({ deliveryId: context.operand('DELIVERY')! }),
  ),
  listCommand(
    {
      words: ['attempts', 'list'],
      summary: 'list attempts, newest first',
      flags: [
        WEBHOOK,
        CALL,
        RESULT,
        FROM,
        TO,
        { name: 'bodies', description: 'with whole recorded bodies, which are cut to 1 KiB otherwise' },
      ],
    },
    ATTEMPT_COLUMNS,
    (client, context, pageSize) =>
      attemptsOf(client, context, {
        pageSize,
        ...range(context),
        ...(context.has('bodies') && { include: 'bodies' }),
      }),
  ),
  tail,
  callCommand(
    {
      words: ['erase'],
      summary: 'erase the stored data of a call or a number',
      flags: [
        { name: 'call', value: 'ID', description: 'this call' },
        { name: 'number', value: 'NUMBER', description: 'the calls that contain this number' },
        YES,
      ],
    },
    async (client, context) => {
      const [call, number] = [context.flag('call'), context.flag('number')]
      if ((call === undefined) === (number === undefined)) {
        throw wrongFlag('--call', 'is required, or --number instead of it')
      }
      confirm(context, 'erased data cannot be restored')
      const data = call === undefined ? { number } : { call_id: call }
      return client.request({ method: 'PUT', path: '/accounts/{account_id}/erase' }, { data })
    },
  ),
]
