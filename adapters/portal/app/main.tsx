/** Starts the page: restores the session, then shows the screen of the address. */
import { options, render } from 'preact'
import { startHostSession } from './api/host-session.js'
import { HAS_HOST_LOGIN } from './api/settings.js'
import { App, SignIn } from './app.js'
import { restore, session } from './state/session.js'
import './style/tokens.css'
import './style/components.css'
import { escapeTextNodes } from './text-nodes.js'

// Effects run before what they belong to is painted: whoever sees something may press its keys or leave it at once.
options.requestAnimationFrame = queueMicrotask

async function start(): Promise<void> {
  escapeTextNodes()
  const restoring = HAS_HOST_LOGIN ? startHostSession() : restore()
  // Loads the sign-in screen while other tabs or the host look for a session.
  if (!session.value) SignIn.preload().catch(() => {})
  await restoring
  render(<App />, document.querySelector('#app')!)
}

void start()
