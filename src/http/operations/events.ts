import { errorCode, type Failure, invalidInput, notFound } from '../../errors.js'
import { readTraceparent } from '../../values/traceparent.js'
import { publishedDoc } from '../../wire/command-docs.js'
import { readEvents, wireEventFailure } from '../../wire/event-names.js'
import { header } from '../../wire/request-head.js'
import { accountOf, type Perform } from './call.js'

export const publishEvents: Perform = async (call) => {
  const accountId = accountOf(call)
  const { ingest } = call.service
  if (!ingest) throw notFound('events')
  const read = readEvents(call.data, accountId)
  if ('failures' in read) throw invalidInput(read.failures)
  // One that is malformed is taken for none (W3C Trace Context, 3.2).
  const traceparent = readTraceparent(header(call.headers, 'traceparent'))
  try {
    return { data: publishedDoc(await ingest(accountId, read.events, traceparent)) }
  } catch (thrown) {
    if (errorCode(thrown) !== 'InvalidInput') throw thrown
    const { failures = [] } = thrown as { failures?: readonly Failure[] }
    const inList = Array.isArray(call.data)
    throw failures.length === 0 ? thrown : invalidInput(failures.map((one) => wireEventFailure(one, inList)))
  }
}
