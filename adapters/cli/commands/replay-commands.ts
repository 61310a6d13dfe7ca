/** The commands `replay` and `replays`. */
import type { HookswitchClient, ReplayCount, ReplayJob, ReplaySelection } from 'hookswitch/client'
import { defined, wrongFlag } from '../read-flags.js'
import { callCommand, listCommand } from './api-commands.js'
import {
  ALL,
  confirmCounts,
  DRY_RUN,
  deliveriesText,
  HOST,
  hostFlag,
  WAIT,
  waitForEnd,
} from './bulk-commands.js'
import { type Command, type CommandContext, CommandFailed, type Flag, type Operand } from './command.js'
import { FROM, PENDING, RESULT, STATE, TO } from './delivery-commands.js'
import type { Column } from './table.js'
import { timeFlag, YES } from './values.js'

const COLUMNS: readonly Column[] = [
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'STATE', value: 'state' },
  { title: 'REPLAYED', value: 'replayed' },
  { title: 'COUNT', value: 'count' },
  { title: 'CREATED', value: 'created_at', isTime: true },
  { title: 'ENDED', value: 'ended_at', isTime: true },
  { title: 'ACCOUNT', value: 'account_id' },
  { title: 'WEBHOOK', value: 'webhook_id' },
]

const DELIVERY: Flag = { name: 'delivery', value: 'ID', description: 'only this delivery of the webhook' }
/** What only a selection has. */
const SELECTION: readonly Flag[] = [
  FROM,
  TO,
  RESULT,
  STATE,
  { name: 'hook', value: 'HOOK', description: "only events of this kind ('events hooks' lists them)" },
  { name: 'reason', value: 'TEXT', description: "only what ended for this reason, as 'status 500'" },
  { name: 'call-id', value: 'ID', description: 'only of this call leg' },
  { name: 'number', value: 'NUMBER', description: 'only of the calls with this number; not with --all' },
  HOST,
  { name: 'include-recovered', description: 'also what a replay has delivered or is about to deliver' },
  DRY_RUN,
  WAIT,
  YES,
]

/** The selection that the flags make. @throws `InvalidOption` */
function selectionOf(context: CommandContext): ReplaySelection {
  const [result, state] = [context.flag('result'), context.flag('state')]
  if (result !== undefined && state !== undefined)
    throw wrongFlag('--state', 'cannot be combined with --result')
  if (state !== undefined && PENDING.includes(state))
    throw wrongFlag('--state', `must be a state of deliveries that have ended, not '${state}'`)
  return defined({
    created_from: timeFlag(context, 'from'),
    created_to: timeFlag(context, 'to'),
    result: (result ?? state) as ReplaySelection['result'],
    hook: context.flag('hook'),
    reason: context.flag('reason'),
    call_id: context.flag('call-id'),
    number: context.flag('number'),
    host: hostFlag(context),
    include_recovered: context.has('include-recovered') || undefined,
    dry_run: context.has('dry-run') || undefined,
  })
}

/** Requests the replay of a webhook, of an account with those below, or of all accounts. @throws `InvalidOption` */
async function request(
  client: HookswitchClient,
  context: CommandContext,
  data: ReplaySelection,
): Promise<ReplayCount | ReplayJob> {
  const webhookId = context.operand('WEBHOOK')
  const hasAccount = context.flag('account') !== undefined
  if (context.has('all')) {
    if (webhookId !== undefined) throw wrongFlag('--all', 'cannot be combined with a webhook')
    if (hasAccount) throw wrongFlag('--all', 'cannot be combined with --account')
    if (data.dry_run !== true)
      await confirmCounts(context, 'sent again', async () => {
        const { count, ...counts } = (await client.replayAllAccounts({ data: { ...data, dry_run: true } }))
          .data as ReplayCount
        return { ...counts, deliveries: count }
      })
    return (await client.replayAllAccounts({ data })).data
  }
  if (webhookId === undefined) {
    if (!hasAccount) throw wrongFlag('WEBHOOK', 'is missing, or --account or --all instead of it')
    return (await client.replayAccount({ data })).data
  }
  // Without `delivery_id` the result names no deliveries.
  return (await client.replayWebhook({ webhookId, data })).data as ReplayCount | ReplayJob
}

async function replayOne(context: CommandContext, deliveryId: string): Promise<void> {
  const webhookId = context.operand('WEBHOOK')
  if (webhookId === undefined) throw wrongFlag('WEBHOOK', 'is missing')
  const other = [ALL, ...SELECTION].find(({ name }) => context.flag(name) !== undefined || context.has(name))
  if (other) throw wrongFlag('--delivery', `cannot be combined with --${other.name}`)
  const { data } = await context.client().replayWebhook({ webhookId, data: { delivery_id: deliveryId } })
  await context.output.document(data)
}

const readJob = async (client: HookswitchClient, replayId: string, isOfAll: boolean): Promise<ReplayJob> =>
  (isOfAll ? await client.readAnyReplay({ replayId }) : await client.readReplay({ replayId })).data

/** Waits for the end of a replay, and says what was left out. */
async function waitForReplay(context: CommandContext, started: ReplayJob): Promise<ReplayJob> {
  const isOfAll = context.has('all')
  const job = await waitForEnd(context, started, {
    name: `replay ${started.id}: ${deliveriesText(started.count)}`,
    cancel: `hookswitch replays cancel ${started.id}${isOfAll ? ' --all' : ''}`,
    read: () => readJob(context.client(), started.id, isOfAll),
    progressOf: ({ replayed, count }) => `${replayed} of ${count} repeated`,
  })
  for (const { webhook_id, reason } of job.left_out)
    context.note(`webhook ${webhook_id} was ${reason}: not all of its deliveries were repeated`)
  return job
}

const replay: Command = {
  words: ['replay'],
  summary: 'send deliveries again that were not delivered',
  details:
    'Of one webhook; with --account and without WEBHOOK of all webhooks of that account and those below; with --all of ' +
    'all accounts, which requires --yes. Without further flags this is everything that was lost and that no replay has recovered. Prints the id ' +
    "and the number of deliveries; the service goes on by itself, and 'replays' shows, pauses and cancels it.",
  operands: [{ name: 'WEBHOOK', description: 'id of a webhook', isOptional: true }],
  flags: [ALL, DELIVERY, ...SELECTION],
  async run(context) {
    const deliveryId = context.flag('delivery')
    if (deliveryId !== undefined) return replayOne(context, deliveryId)
    const data = selectionOf(context)
    const isWaiting = context.has('wait')
    if (isWaiting && data.dry_run === true) throw wrongFlag('--wait', 'cannot be combined with --dry-run')
    const result = await request(context.client(), context, data)
    if (!isWaiting || !('id' in result)) return context.output.document(result)
    const job = await waitForReplay(context, result)
    await context.output.document(job)
    if (job.state === 'cancelled') throw new CommandFailed(1)
  },
}

const ID: Operand = { name: 'REPLAY', description: 'id of a replay' }

/** A command that sets the state of a replay. */
const setCommand = (word: string, summary: string, state: 'running' | 'paused' | 'cancelled'): Command =>
  callCommand({ words: ['replays', word], summary, operands: [ID], flags: [ALL] }, (client, context) => {
    const parameters = { replayId: context.operand('REPLAY')!, data: { state } }
    return context.has('all') ? client.setAnyReplay(parameters) : client.setReplay(parameters)
  })

export const REPLAY_COMMANDS: readonly Command[] = [
  replay,
  listCommand(
    { words: ['replays', 'list'], summary: 'list the replays of the account, newest first', flags: [ALL] },
    COLUMNS,
    (client, context, pageSize) =>
      context.has('all') ? client.listAllReplays({ pageSize }) : client.listReplays({ pageSize }),
  ),
  callCommand(
    { words: ['replays', 'show'], summary: 'show a replay and its progress', operands: [ID], flags: [ALL] },
    (client, context) => {
      const parameters = { replayId: context.operand('REPLAY')! }
      return context.has('all') ? client.readAnyReplay(parameters) : client.readReplay(parameters)
    },
  ),
  setCommand('pause', 'pause a replay', 'paused'),
  setCommand('resume', 'continue a paused replay', 'running'),
  setCommand('cancel', 'end a replay; what it has repeated is still sent', 'cancelled'),
]
