/** The command `why`. */
import type { HookswitchClient, Why } from 'hookswitch/client'
import type { Command, CommandContext } from './command.js'

type WhyCall = Why['calls'][number]
type WhyEvent = WhyCall['events'][number]
type WhyDelivery = WhyEvent['deliveries'][number]
type Unmatched = WhyEvent['unmatched'][number]

/** Spaces before the rest of a long line: no other line begins with as many. */
const CONTINUED = 8
/** HTTP status: the key is no operator's. */
const FORBIDDEN = 403

/** Searches `--account`, or all accounts; with the key of a customer, the account of the key. */
async function ask(client: HookswitchClient, context: CommandContext): Promise<Why> {
  const data = { q: context.operand('WHAT')! }
  if (context.flag('account') !== undefined) return (await client.why({ data })).data
  return client.whyAnywhere({ data }).then(
    (response) => response.data,
    async (thrown: { readonly status?: unknown }) => {
      if (thrown.status !== FORBIDDEN) throw thrown
      return (await client.why({ data })).data
    },
  )
}

const accountOf = ({ account_id, account_name }: { account_id: string; account_name?: string }) =>
  account_name === undefined ? account_id : `${account_id} (${account_name})`

const deliveryLine = ({ hook_id, hook_name, id, explain }: WhyDelivery) =>
  `${hook_name ?? 'a webhook that is gone'} (${hook_id}), delivery ${id}: ${explain}`

function unmatchedLine({ count, explain, webhooks }: Unmatched): string {
  const names = webhooks.map(({ id, name }) => `${name} (${id})`).join(', ')
  const more = count > webhooks.length ? `, and ${count - webhooks.length} more` : ''
  return `not to ${names}${more}: ${explain}`
}

const eventLine = ({
  hook,
  accepted_at,
  source,
  id,
}: Pick<WhyEvent, 'hook' | 'accepted_at' | 'source' | 'id'>) =>
  `${accepted_at}  ${hook}  accepted${source === undefined ? '' : ` from ${source}`}, event ${id}`

function* eventLines(event: WhyEvent): Generator<string> {
  yield `  ${eventLine(event)}`
  if (!event.wanted)
    yield event.unmatched.length === 0 ? '    no webhook: the account has none' : '    no webhook matched'
  for (const delivery of event.deliveries) yield `    to ${deliveryLine(delivery)}`
  for (const unmatched of event.unmatched) yield `    ${unmatchedLine(unmatched)}`
}

function* linesOf({ calls, other_calls, delivery, webhook }: Why): Generator<string> {
  if (delivery) yield `delivery to ${deliveryLine(delivery)}`
  for (const call of calls) {
    yield `call ${call.call_id} of account ${accountOf(call)}`
    for (const event of call.events) yield* eventLines(event)
    if (call.truncated) yield '  older events, or some webhooks, are left out'
  }
  for (const call of other_calls)
    yield `${call.accepted_at}  call ${call.call_id} of account ${accountOf(call)}: 'hookswitch why' with its id shows it`
  if (!webhook) return
  const reason = webhook.disable_reason === undefined ? '' : `: ${webhook.disable_reason}`
  const state = webhook.deleted ? 'deleted' : webhook.enabled ? 'enabled' : `disabled${reason}`
  yield `webhook ${webhook.id} (${webhook.name}) of account ${accountOf(webhook)}, for ${webhook.hook}, ${state}`
  for (const item of webhook.deliveries)
    yield `  ${item.accepted_at}  ${item.hook_event}, delivery ${item.id}: ${item.explain}`
  for (const event of webhook.unmatched) yield `  ${eventLine(event)}, to no webhook: ${event.explain}`
}

export const WHY_COMMAND: Command = {
  words: ['why'],
  summary: 'find out why something was not delivered',
  details: `Shows which events were accepted and from where, which webhooks matched, what happened to each delivery,
and why the other webhooks got nothing. With an operator's key in all accounts; --account narrows it to one.
Events that no webhook wanted are kept for a day.`,
  operands: [{ name: 'WHAT', description: 'id of a call, delivery, event or webhook, or a number' }],
  async run(context) {
    const { output, note } = context
    const report = await ask(context.client(), context)
    if (output.isJson) return output.document(report)
    const lines = [...linesOf(report)]
    await output.sentences(lines, CONTINUED)
    if (lines.length === 0)
      note('nothing is stored of it: no such event was accepted lately, or its records were removed')
    if (report.truncated) note('there are more calls of this number: --account narrows the search')
  },
}
