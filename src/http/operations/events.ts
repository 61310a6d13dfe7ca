/** Publishes events received over HTTP, and tells which webhooks would get one. */
import { invalidInput, notFound } from '../../errors.js'
import { publishEvents as publishTo, refuseLongList } from '../../runtime/publish.js'
import { isId } from '../../values/ids.js'
import { parseTraceparent } from '../../values/traceparent.js'
import { matchJson, publishedJson } from '../../wire/command-json.js'
import { parseEvents, parsePartialEvent, toWireFailure } from '../../wire/event-names.js'
import { getHeader } from '../../wire/request-head.js'
import { accountIdOf, type Operation, translateFailures } from './context.js'

export const publishEvents: Operation = async (context) => {
  const accountId = accountIdOf(context)
  const { publishing, yieldWhenDue } = context.deps
  const isList = Array.isArray(context.data)
  if (isList) {
    refuseLongList(publishing, (context.data as readonly unknown[]).length)
    await yieldWhenDue(accountId)
  }
  const parsed = parseEvents(context.data, accountId)
  if ('failures' in parsed) throw invalidInput(parsed.failures)
  // A malformed header counts as absent (W3C Trace Context, 3.2).
  const parent = parseTraceparent(getHeader(context.headers, 'traceparent'))
  const options = { parent, source: 'http', isList, inParts: true }
  const published = publishTo(publishing, parsed.events, options)
  const accepted = await translateFailures(published, toWireFailure)
  return { data: publishedJson(accepted.map(({ eventId }) => eventId)) }
}

export const matchEvent: Operation = async (context) => {
  const accountId = accountIdOf(context)
  const parsed = parsePartialEvent(context.data as Readonly<Record<string, unknown>>, accountId)
  if ('failures' in parsed) throw invalidInput(parsed.failures)
  const [event] = parsed.events
  const eventAccountId = String(event!.accountId)
  if (!isId(eventAccountId)) throw notFound(eventAccountId)
  const reports = context.deps.webhooks.match(accountId, event!)
  return {
    data: (await translateFailures(reports, toWireFailure)).map(matchJson),
  }
}
