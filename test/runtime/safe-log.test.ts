import { describe, expect, it } from 'vitest'
import { safeLog } from '../../src/runtime/safe-log.js'

const recordingLog = () => {
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

describe('safeLog', () => {
  it('passes on level, fields and message without secrets', () => {
    const { logged, log } = recordingLog()
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

  it('logs the message even if the fields cannot be read', () => {
    const { logged, log } = recordingLog()
    const fields = {
      get unreadable(): string {
        throw new Error('no')
      },
    }
    safeLog(log).warn(fields, 'first')
    safeLog(log).warn(null as never, 'second')
    expect(logged).toEqual([
      ['warn', {}, 'first'],
      ['warn', {}, 'second'],
    ])
  })

  it('never throws, whether the logger throws, rejects or is absent', async () => {
    const { log } = recordingLog()
    const throwing = () => {
      throw new Error('no')
    }
    const rejecting = () => Promise.reject(new Error('no'))
    for (const warn of [throwing, rejecting]) safeLog({ ...log, warn }).warn({}, 'x')
    safeLog(undefined).error({ token: 't' }, 'x')
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve))
  })
})
