import { describe, expect, it } from 'vitest'
import { safeLog } from '../src/safe-log.js'

const noting = () => {
  const logged: unknown[][] = []
  const level =
    (name: string) =>
    (...args: unknown[]) =>
      void logged.push([name, ...args])
  return {
    logged,
    log: { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
  }
}

describe('the log', () => {
  it('hands on level, fields and sentence, without secrets', () => {
    const { logged, log } = noting()
    const safe = safeLog(log)
    safe.debug({ n: 1 }, 'd')
    safe.info({ url: 'http://u:p@host/?q' }, 'listening')
    safe.warn({ apiKey: 'k', reason: 'out' }, 'could not reach http://u:p@host/?q')
    safe.error({ err: Object.assign(new Error('no'), { code: 'E', query: 'q' }) }, 'failed')
    expect(logged).toEqual([
      ['debug', { n: 1 }, 'd'],
      ['info', { url: 'http://[redacted]@host/' }, 'listening'],
      ['warn', { apiKey: '[redacted]', reason: 'out' }, 'could not reach http://[redacted]@host/'],
      ['error', { err: { name: 'Error', message: 'no', code: 'E' } }, 'failed'],
    ])
  })

  it('says its sentence also where the fields cannot be read', () => {
    const { logged, log } = noting()
    const fields = {
      get worse(): string {
        throw new Error('no')
      },
    }
    safeLog(log).warn(fields, 'it is bad')
    safeLog(log).warn(null as never, 'it is worse')
    expect(logged).toEqual([
      ['warn', {}, 'it is bad'],
      ['warn', {}, 'it is worse'],
    ])
  })

  it('keeps a logger that throws, rejects or is not there from hurting anybody', async () => {
    const { log } = noting()
    const throwing = () => {
      throw new Error('no')
    }
    const rejecting = () => Promise.reject(new Error('no'))
    for (const warn of [throwing, rejecting]) safeLog({ ...log, warn }).warn({}, 'x')
    safeLog(undefined).error({ token: 't' }, 'x')
    // A rejection that nobody handles would fail the run.
    await new Promise((resolve) => setImmediate(resolve))
  })
})
