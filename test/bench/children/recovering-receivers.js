/** Receivers that go away, all at once, and come back: some refuse connections meanwhile, some never answer. */
import { handleRequests, sharedMicros, sleep } from '../processes.js'
import { createBareServer, listen } from './bare-server.js'
import { timestampOf } from './events.js'

/** How long a port may be in use by a connection when its receiver comes back, ms. */
const PORT_MS = 5_000

let isAway = false
/** Return of the receivers on the shared clock, µs; `undefined`: they have not come back yet. */
let recoveredMicros
const receivers = []

function createReceiver(refuses) {
  const sockets = new Set()
  const receiver = {
    refuses,
    /** Arrival of the first event after the return that was published before it, µs on the shared clock. */
    firstMicros: undefined,
    port: 0,
    close() {
      receiver.server.close()
      for (const socket of sockets) socket.destroy()
    },
    server: createBareServer(
      (buffer, length, arrived) => {
        if (isAway) return
        if (timestampOf(buffer.latin1Slice(0, length)) < recoveredMicros) receiver.firstMicros ??= arrived
      },
      { now: sharedMicros, write: (socket, response) => isAway || socket.write(response) },
    ),
  }
  receiver.server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return receiver
}

/** Listens on the port that the receiver had before. */
async function listenAgain({ server, port }) {
  const limit = performance.now() + PORT_MS
  for (;;) {
    try {
      return await new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, '127.0.0.1', resolve)
      })
    } catch (thrown) {
      if (thrown.code !== 'EADDRINUSE' || performance.now() > limit) throw thrown
      await sleep(10)
    }
  }
}

handleRequests({
  /** Opens receivers; `refuses` tells of each whether it refuses connections while it is away. Returns their ports. */
  listen: ({ refuses }) =>
    Promise.all(
      refuses.map(async (refuse) => {
        const receiver = createReceiver(refuse)
        receivers.push(receiver)
        receiver.port = (await listen(receiver.server)).port
        return receiver.port
      }),
    ),
  goAway() {
    isAway = true
    for (const receiver of receivers) if (receiver.refuses) receiver.close()
  },
  async comeBack() {
    isAway = false
    recoveredMicros = sharedMicros()
    await Promise.all(receivers.filter(({ refuses }) => refuses).map(listenAgain))
  },
  /** For each receiver: ms from the return to the first event of before; `undefined`: none has arrived. */
  firstMs: () =>
    receivers.map(({ firstMicros }) =>
      firstMicros === undefined ? undefined : (firstMicros - recoveredMicros) / 1000,
    ),
})
