/** Commands of operators over the webhooks of all accounts, or of one: with counts first. Also the command `jobs`. */
import { closestName, FAILURE_CAUSES } from 'hookswitch/adapter'
import type { Holds, HookswitchClient, WebhookCounts, WebhookJob, WebhookJobRequest } from 'hookswitch/client'
import { defined, wrongFlag } from '../read-flags.js'
import { callCommand, listCommand } from './api-commands.js'
import { type Command, type CommandContext, CommandFailed, type Flag, type Operand } from './command.js'
import type { Column } from './table.js'
import { confirm, TIME, timeFlag, YES } from './values.js'

export const ALL: Flag = { name: 'all', description: "of all accounts, with an operator's key" }
export const DRY_RUN: Flag = { name: 'dry-run', description: 'only count, and change nothing' }
export const WAIT: Flag = { name: 'wait', description: 'wait for the end, and show the progress' }
export const HOST: Flag = {
  name: 'host',
  value: 'HOST',
  description: 'only webhooks whose URL has this host, as crm.example.com or 127.0.0.1:8080',
}
/** Conditions on webhooks that fail. */
export const SELECTION: readonly Flag[] = [
  {
    name: 'cause',
    value: 'CAUSE',
    description: 'only webhooks that fail for this cause, or with this status, as 503',
  },
  { name: 'since', value: 'TIME', description: `only webhooks that began to fail at or after ${TIME}` },
  { name: 'until', value: 'TIME', description: 'only webhooks that began to fail at or before this time' },
  HOST,
]

interface Selection {
  readonly account_id?: string
  readonly cause?: string
  readonly host?: string
  readonly since?: number
  readonly until?: number
}

/** The conditions that the flags make. @throws `InvalidOption` */
export function selectionOf(context: CommandContext): Selection {
  const cause = context.flag('cause')
  if (cause !== undefined && !Object.hasOwn(FAILURE_CAUSES, cause) && !/^[1-5]\d\d$/.test(cause)) {
    const causes = Object.keys(FAILURE_CAUSES)
    const closest = closestName(cause, causes)
    const hint =
      closest === undefined ? `one of ${causes.join(', ')}` : `a cause (did you mean '${closest}'?)`
    throw wrongFlag('--cause', `must be a status, as 503, or ${hint}, not '${cause}'`)
  }
  const [since, until] = [timeFlag(context, 'since'), timeFlag(context, 'until')]
  if (since !== undefined && until !== undefined && since > until)
    throw wrongFlag('--since', 'must not be later than --until')
  return defined({ account_id: context.flag('account'), cause, host: hostFlag(context), since, until })
}

/** @throws `InvalidOption` for what is no host */
export function hostFlag(context: CommandContext): string | undefined {
  const host = context.flag('host')
  if (host !== undefined && /[/?#@\s]/.test(host))
    throw wrongFlag('--host', 'must be a host, as crm.example.com, without the rest of a URL')
  return host
}

export const deliveriesText = (count: number) => `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
const webhooksText = (count: number) => `${count} ${count === 1 ? 'webhook' : 'webhooks'}`

/** `120 deliveries of 7 webhooks of 3 accounts`. */
const countsText = ({ webhooks, accounts, deliveries }: WebhookCounts): string =>
  `${deliveriesText(deliveries)} of ${webhooksText(webhooks)} ` +
  `of ${accounts} ${accounts === 1 ? 'account' : 'accounts'}`

/** Requires `--yes`, and says what would be done. @throws `InvalidOption` */
export async function confirmCounts(
  context: CommandContext,
  verb: string,
  count: () => Promise<WebhookCounts>,
): Promise<void> {
  if (!context.has('yes')) confirm(context, `${countsText(await count())} would be ${verb}`)
}

/** Time between two looks at the progress. */
const PROGRESS_MS = 1_000

/** A job of the service. */
interface Job {
  readonly id: string
  readonly state: string
}

const hasEnded = ({ state }: Job) => state === 'completed' || state === 'cancelled'

/**
 * Shows the progress until a job has ended, or the command is interrupted.
 *
 * @param name of the job, as `replay 1234: 7 deliveries`
 * @param cancel the command that ends it
 */
export async function waitForEnd<Item extends Job>(
  { signal, note, sleep }: CommandContext,
  started: Item,
  {
    name,
    cancel,
    read,
    progressOf,
  }: {
    readonly name: string
    readonly cancel: string
    readonly read: () => Promise<Item>
    readonly progressOf: (job: Item) => string
  },
): Promise<Item> {
  note(name)
  signal.addEventListener('abort', () => note(`it goes on: '${cancel}' ends it`), { once: true })
  let job = started
  let shown = ''
  while (!hasEnded(job) && !signal.aborted) {
    job = await read()
    const progress = `${progressOf(job)}${job.state === 'paused' ? ', paused' : ''}`
    if (progress !== shown) note(progress)
    shown = progress
    if (!hasEnded(job)) await sleep(PROGRESS_MS)
  }
  return job
}

/** Counts with `--dry-run`, otherwise starts the job, and with `--wait` waits for its end. */
async function runJob(
  context: CommandContext,
  action: WebhookJobRequest['action'],
  verb: string,
): Promise<void> {
  const isWaiting = context.has('wait')
  if (isWaiting && context.has('dry-run')) throw wrongFlag('--wait', 'cannot be combined with --dry-run')
  const selection = selectionOf(context)
  const client = context.client()
  const count = async () =>
    (await client.startJob({ data: { action, ...selection, dry_run: true } })).data as WebhookCounts
  if (context.has('dry-run')) return context.output.document(await count())
  await confirmCounts(context, verb, count)
  const started = (await client.startJob({ data: { action, ...selection } })).data as WebhookJob
  if (!isWaiting) return context.output.document(started)
  const job = await waitForEnd(context, started, {
    name: `job ${started.id}: ${webhooksText(started.count)}`,
    cancel: `hookswitch jobs cancel ${started.id}`,
    read: async () => (await client.readJob({ jobId: started.id })).data,
    progressOf: ({ changed, count: total }) => `${changed} of ${webhooksText(total)} ${verb}`,
  })
  await context.output.document(job)
  if (job.state === 'cancelled') throw new CommandFailed(1)
}

const OF_JOB: readonly Flag[] = [ALL, ...SELECTION, DRY_RUN, WAIT, YES]
const WEBHOOK: Operand = { name: 'WEBHOOK', description: 'id of a webhook', isOptional: true }

/** @throws `InvalidOption` unless `--all` or `--account` was given, and not both */
function requireScope(context: CommandContext, other = ''): void {
  if (context.has('all') === (context.flag('account') !== undefined))
    throw wrongFlag('--all', `or --account is required${other}, and not both`)
}

const given = (context: CommandContext, flags: readonly Flag[]) =>
  flags.find(({ name }) => context.flag(name) !== undefined || context.has(name))

export const resumeWebhooks: Command = {
  words: ['webhooks', 'resume'],
  summary: 'end the pause of a webhook, or of many, so that what waits is sent now',
  details:
    'While the receiver fails, one delivery at a time is sent; another failure begins a new pause. Without WEBHOOK, for operators: ' +
    "a job over the paused webhooks of --account or, with --all, of all accounts; 'jobs' shows, pauses and cancels it.",
  operands: [WEBHOOK],
  flags: OF_JOB,
  async run(context) {
    const webhookId = context.operand('WEBHOOK')
    if (webhookId === undefined) {
      requireScope(context, ' without WEBHOOK')
      return runJob(context, 'resume', 'resumed')
    }
    const other = given(context, OF_JOB)
    if (other) throw wrongFlag(`--${other.name}`, 'cannot be combined with a webhook')
    const { data } = await context.client().resumeWebhook({ webhookId })
    await context.output.document(data)
  },
}

const DESCENDANTS: Flag = { name: 'descendants', description: 'also those of all accounts below' }

export const reenableWebhooks: Command = {
  words: ['webhooks', 'reenable'],
  summary: 'enable the webhooks that the service has disabled',
  details:
    'Those of the account, at once. With --all or a condition, for operators: a job over all accounts, or over --account; ' +
    "'jobs' shows, pauses and cancels it.",
  flags: [DESCENDANTS, ...OF_JOB],
  async run(context) {
    if (given(context, OF_JOB)) {
      if (context.has('descendants')) throw wrongFlag('--descendants', 'cannot be combined with a job')
      requireScope(context)
      return runJob(context, 'reenable', 'enabled')
    }
    const parameters = { data: { 're-enable': true } } as const
    const client = context.client()
    const { data } = context.has('descendants')
      ? await client.reenableDescendantWebhooks(parameters)
      : await client.reenableWebhooks(parameters)
    await context.output.document(data)
  },
}

const HOLD_TEXTS = {
  hold: {
    verb: 'held',
    summary: 'hold deliveries: events are accepted, nothing is sent until webhooks release',
    details:
      'For operators. Requests in flight end; other nodes follow within 10 s; a restart does not end it. Deliveries above ' +
      'the age of their webhook expire when they are released. --all requires --yes.',
  },
  release: {
    verb: 'released',
    summary: 'send what webhooks hold or serve --hold holds',
    details: 'For operators. With --all, accounts that are held by themselves stay so.',
  },
} as const

/** Holds or releases the deliveries of `--account`, or those of all accounts. */
export function holdDeliveries(word: keyof typeof HOLD_TEXTS): Command {
  const { verb, ...texts } = HOLD_TEXTS[word]
  return {
    words: ['webhooks', word],
    ...texts,
    flags: [ALL, DRY_RUN, YES],
    async run(context) {
      requireScope(context)
      const client = context.client()
      const request = { held: word === 'hold', ...defined({ account_id: context.flag('account') }) }
      const count = async () =>
        (await client.setHold({ data: { ...request, dry_run: true } })).data as WebhookCounts
      if (context.has('dry-run')) return context.output.document(await count())
      if (context.has('all') && word === 'hold') await confirmCounts(context, verb, count)
      const held = (await client.setHold({ data: request })).data as Holds
      await context.output.document(held)
      if (word === 'release') noteLeft(context, held)
    },
  }
}

/** What a release has not released. */
function noteLeft({ note, has }: CommandContext, { all, accounts = [] }: Partial<Holds>): void {
  if (all) note('the deliveries of all accounts are still held: webhooks release --all sends them')
  else if (has('all') && accounts.length > 0)
    note(
      `accounts that are still held by themselves: ${accounts.length}; webhooks release --account sends theirs`,
    )
}

const JOB_COLUMNS: readonly Column[] = [
  { title: 'ID', value: 'id', isWhole: true },
  { title: 'ACTION', value: 'action' },
  { title: 'STATE', value: 'state' },
  { title: 'CHANGED', value: 'changed' },
  { title: 'COUNT', value: 'count' },
  { title: 'CREATED', value: 'created_at', isTime: true },
  { title: 'ENDED', value: 'ended_at', isTime: true },
  { title: 'ACCOUNT', value: 'account_id' },
  { title: 'CAUSE', value: 'cause' },
  { title: 'HOST', value: 'host' },
]
const JOB: Operand = { name: 'JOB', description: 'id of a job' }
const jobId = (context: CommandContext) => context.operand('JOB')!

/** A command that sets the state of a job. */
const setCommand = (word: string, summary: string, state: 'running' | 'paused' | 'cancelled'): Command =>
  callCommand({ words: ['jobs', word], summary, operands: [JOB] }, (client: HookswitchClient, context) =>
    client.setJob({ jobId: jobId(context), data: { state } }),
  )

export const JOB_COMMANDS: readonly Command[] = [
  listCommand(
    { words: ['jobs', 'list'], summary: 'list the jobs over webhooks of all accounts, newest first' },
    JOB_COLUMNS,
    (client, _, pageSize) => client.listJobs({ pageSize }),
  ),
  callCommand(
    { words: ['jobs', 'show'], summary: 'show a job and its progress', operands: [JOB] },
    (client, context) => client.readJob({ jobId: jobId(context) }),
  ),
  setCommand('pause', 'pause a job', 'paused'),
  setCommand('resume', 'continue a paused job', 'running'),
  setCommand('cancel', 'end a job; what it has changed stays changed', 'cancelled'),
]
