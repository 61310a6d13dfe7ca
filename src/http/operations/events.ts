/** Publishes events received over HTTP. */
import { errorCode, type Failure, invalidInput, notFound } from '../../errors.js'
import { parseTraceparent } from '../../values/traceparent.js'
import { publishedJson } from '../../wire/command-json.js'
import { parseEvents, toWireFailure } from '../../wire/event-names.js'
import { getHeader } from '../../wire/request-head.js'
import { accountIdOf, type Operation } from './context.js'

export const publishEvents: Operation = async (context) => {
  const accountId = accountIdOf(context)
  const { ingest } = context.backend
  if (!ingest) throw notFound('events')
  const parsed = parseEvents(context.data, accountId)
  if ('failures' in parsed) throw invalidInput(parsed.failures)
  // A malformed header counts as absent (W3C Trace Context, 3.2).
  const traceparent = parseTraceparent(getHeader(context.headers, 'traceparent'))
  try {
    return { data: publishedJson(await ingest(accountId, parsed.events, traceparent)) }
  } catch (thrown) {
    if (errorCode(thrown) !== 'InvalidInput') throw thrown
    const { failures = [] } = thrown as { failures?: readonly Failure[] }
    const isList = Array.isArray(context.data)
    throw failures.length === 0
      ? thrown
      : invalidInput(failures.map((failure) => toWireFailure(failure, isList)))
  }
}
