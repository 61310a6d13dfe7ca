// @ts-check
/** Replaying a recorded stream of calls, at its own pace on a clock that the test moves; and recording one. */
import { readFile } from 'node:fs/promises'
import { createHookswitch, memoryStore } from 'hookswitch'
import { callRecorder, manualClock, recordedCalls } from 'hookswitch/testkit'

const CALLS = new URL('calls.ndjson', import.meta.url)

/**
 * What is tested: how many calls are up, and how many were at most, as a wallboard shows it.
 *
 * @param {import('hookswitch').Hookswitch['events']} events
 */
export function wallboard(events) {
  const board = { up: 0, most: 0 }
  events.on('channel_answer', () => {
    board.up += 1
    board.most = Math.max(board.most, board.up)
  })
  events.on('channel_destroy', () => {
    board.up -= 1
  })
  return board
}

/** @param {import('./node-test.js').Tools} tools */
export function run({ describe, it, assert }) {
  describe('a recorded stream of calls', () => {
    it('is replayed at its own pace', async () => {
      const clock = manualClock()
      const hs = createHookswitch({ store: memoryStore(), clock })
      await hs.start()
      await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
      const board = wallboard(hs.events)

      const recording = recordedCalls(await readFile(CALLS, 'utf8'))
      const replayed = recording.replay({ publish: hs.publish, clock })
      await clock.advance(30_000) // half a minute in, both are being talked on
      assert.deepEqual(board, { up: 2, most: 2 })
      await clock.advance(recording.lengthMs - 30_000)
      assert.deepEqual(await replayed, { events: 6, calls: 2 })
      assert.deepEqual(board, { up: 0, most: 2 })
      await hs.close()
    })

    it('is recorded from a service, without the numbers of people', async () => {
      const hs = createHookswitch({ store: memoryStore() })
      await hs.start()
      await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })

      let written = ''
      const recorder = callRecorder(hs.events, (line) => (written += line), {
        map: ({ callerIdNumber: _, ...event }) => event,
      })
      const recording = recordedCalls(await readFile(CALLS, 'utf8'))
      await recording.replay({ publish: hs.publish, speed: Infinity, times: 'recorded' })
      recorder.stop() // throws what went wrong with a line
      await hs.close()

      const again = recordedCalls(written)
      assert.equal(again.lengthMs, recording.lengthMs)
      assert.equal(written.includes('+1202555'), false)
    })

    it('is refused where it is wrong, with line and field', async () => {
      const text = await readFile(CALLS, 'utf8')
      assert.throws(() => recordedCalls(text.replace('"a-1"', '""')), {
        code: 'InvalidInput',
        field: 'callId',
        message: /^line 1: callId: /,
      })
    })
  })
}
