// @ts-check
/** Replays a recorded stream of calls with its gaps, on a clock that the test advances; records one. Run by node-test.js. */
import { readFile } from 'node:fs/promises'
import { createHookswitch, memoryStore } from 'hookswitch'
import { callRecorder, manualClock, recordedCalls } from 'hookswitch/testkit'

const CALLS = new URL('calls.ndjson', import.meta.url)

/**
 * The application under test: the current and the highest number of answered calls, as a wallboard shows them.
 *
 * @param {import('hookswitch').Hookswitch['events']} events
 */
export function wallboard(events) {
  const board = { current: 0, highest: 0 }
  events.on('channel_answer', () => {
    board.current += 1
    board.highest = Math.max(board.highest, board.current)
  })
  events.on('channel_destroy', () => {
    board.current -= 1
  })
  return board
}

/** @param {import('./node-test.js').Tools} tools */
export function run({ describe, it, assert }) {
  describe('a recorded stream of calls', () => {
    it('is replayed with its gaps', async () => {
      const clock = manualClock()
      const hs = createHookswitch({ store: memoryStore(), clock })
      await hs.start()
      await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
      const board = wallboard(hs.events)

      const recording = recordedCalls(await readFile(CALLS, 'utf8'))
      const replayed = recording.replay({ publish: hs.publish, clock })
      await clock.advance(30_000) // after half a minute both calls are answered
      assert.deepEqual(board, { current: 2, highest: 2 })
      await clock.advance(recording.lengthMs - 30_000)
      assert.deepEqual(await replayed, { events: 6, calls: 2 })
      assert.deepEqual(board, { current: 0, highest: 2 })
      await hs.close()
    })

    it('is recorded from a service, without phone numbers', async () => {
      const hs = createHookswitch({ store: memoryStore() })
      await hs.start()
      await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })

      let written = ''
      const recorder = callRecorder(hs.events, (line) => (written += line), {
        map: ({ callerIdNumber: _, ...event }) => event,
      })
      const recording = recordedCalls(await readFile(CALLS, 'utf8'))
      await recording.replay({ publish: hs.publish, speed: Infinity, times: 'recorded' })
      recorder.stop() // throws if a line could not be written
      await hs.close()

      const again = recordedCalls(written)
      assert.equal(again.lengthMs, recording.lengthMs)
      assert.equal(written.includes('+1202555'), false)
    })

    it('is rejected with line and field of the error', async () => {
      const text = await readFile(CALLS, 'utf8')
      assert.throws(() => recordedCalls(text.replace('"a-1"', '""')), {
        code: 'InvalidInput',
        field: 'callId',
        message: /^line 1: callId: /,
      })
    })
  })
}
