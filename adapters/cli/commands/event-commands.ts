/** The command `events`. */
import type { EventInput, HookswitchClientError } from 'hookswitch/client'
import { wrongFlag } from '../read-flags.js'
import { callCommand, listCommand } from './api-commands.js'
import type { Command } from './command.js'
import { parseJson } from './values.js'

/** Events per request, whose body is limited to 1 MiB. An invalid event refuses its whole request. */
const BATCH_EVENTS = 100
const BATCH_CHARACTERS = 200_000
/** HTTP status: the events make more deliveries than a request may. */
const TOO_LARGE = 413

const publish: Command = {
  words: ['events', 'publish'],
  summary: 'publish the events of a file',
  details:
    'The service must run with --ingest. Prints the id of each event. A JSON file is one request: if one of its events is invalid, none is published; lines of JSON are sent in batches. Events that all have an idempotency_key are sent again after a lost connection.',
  operands: [
    {
      name: 'FILE',
      description: 'an event, a list of events, or one event per line; - for the standard input',
      isFile: true,
    },
  ],
  async run(context) {
    const text = (await context.read(context.operand('FILE')!, 'FILE')).toString('utf8')
    const { batches, isWhole } = batchesOf(text)
    let published = 0
    for (let batch = batches.shift(); batch && !context.signal.aborted; batch = batches.shift()) {
      const { length } = batch
      const isRepeatable = batch.every((event) => event?.idempotency_key !== undefined)
      const response = await context
        .client()
        .publishEvents({ data: batch }, isRepeatable ? { isRepeatable } : {})
        .catch((thrown: unknown) => {
          // They have too many webhooks for one request.
          if (!isWhole && length > 1 && (thrown as { status?: unknown }).status === TOO_LARGE)
            return undefined
          // A long list may have been accepted in part.
          const { accepted_events: before = 0 } = (thrown as HookswitchClientError).data ?? {}
          published += Number(before)
          if (published > 0) context.note(`${published} events were published before the error`)
          throw thrown
        })
      if (!response) {
        batches.unshift(batch.slice(0, length / 2), batch.slice(length / 2))
        continue
      }
      const { data } = response
      published += data.event_ids.length
      for (const id of data.event_ids) await context.output.text(id, { event_id: id })
    }
  },
}

/** `isWhole`: they are one request. */
interface Batches {
  readonly batches: (readonly EventInput[])[]
  readonly isWhole: boolean
}

/** @throws `InvalidOption` naming the line that is not JSON */
function batchesOf(text: string): Batches {
  let whole: unknown
  try {
    whole = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return { batches: batchesOfLines(text), isWhole: false }
  }
  return { batches: [Array.isArray(whole) ? whole : [whole as EventInput]], isWhole: true }
}

function batchesOfLines(text: string): EventInput[][] {
  const batches: EventInput[][] = []
  let characters = Number.POSITIVE_INFINITY
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const event = parseJson(line, `FILE: line ${index + 1}`) as EventInput
    if (characters + line.length > BATCH_CHARACTERS || batches.at(-1)!.length === BATCH_EVENTS) {
      batches.push([])
      characters = 0
    }
    batches.at(-1)!.push(event)
    characters += line.length
  }
  if (batches.length === 0) throw wrongFlag('FILE', 'holds no event')
  return batches
}

export const EVENT_COMMANDS: readonly Command[] = [
  publish,
  listCommand(
    { words: ['events', 'hooks'], summary: 'list the kinds of events' },
    [
      { title: 'HOOK', value: 'id', isWhole: true },
      { title: 'NAME', value: 'name' },
      { title: 'DESCRIPTION', value: 'description' },
    ],
    (client, _, pageSize) => client.listHooks({ pageSize }),
  ),
  callCommand(
    {
      words: ['events', 'sample'],
      summary: 'show sample payloads of a kind of event',
      operands: [{ name: 'HOOK', description: "kind of event, as in 'events hooks'" }],
    },
    (client, context) => client.readSample({ sampleId: context.operand('HOOK')! }),
  ),
]
