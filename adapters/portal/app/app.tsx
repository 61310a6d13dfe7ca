/** The frame of the page: header, the current screen, the login and the messages. */
import { Dialog } from './components/dialog.js'
import { Header } from './components/header.js'
import { IconSprite } from './components/icon.js'
import { lazy } from './components/lazy.js'
import { LoginForm } from './components/login-form.js'
import { Page } from './components/page.js'
import { ShortcutHelp } from './components/shortcut-help.js'
import { DeliveryScreen } from './screens/delivery.js'
import { WebhookScreen } from './screens/webhook.js'
import { WebhooksScreen } from './screens/webhooks.js'
import { liveSummary, notice } from './state/announce.js'
import { isHelpOpen } from './state/keyboard.js'
import { route } from './state/router.js'
import { accountId } from './state/scope.js'
import { isExpired, session } from './state/session.js'
import { t } from './state/translate.js'

const CallScreen = lazy(async () => (await import('./screens/call.js')).CallScreen)
const LiveScreen = lazy(async () => (await import('./screens/live.js')).LiveScreen)
const MatchScreen = lazy(async () => (await import('./screens/match.js')).MatchScreen)
const NewWebhookScreen = lazy(async () => (await import('./screens/new-webhook.js')).NewWebhookScreen)
const OperatorScreen = lazy(async () => (await import('./screens/operator.js')).OperatorScreen)

export function App() {
  return (
    <>
      <IconSprite />
      {session.value ? <Signed /> : <SignedOut />}
      <div class="notices" role="status" aria-live="polite">
        {notice.value && <p class={notice.value.isError ? 'notice bad' : 'notice'}>{notice.value.text}</p>}
        <span class="hidden">{liveSummary.value}</span>
      </div>
    </>
  )
}

function SignedOut() {
  return (
    <main class="sign-in">
      <h1>{t('login.title')}</h1>
      <LoginForm />
    </main>
  )
}

function Signed() {
  return (
    <>
      <Header />
      <Screen />
      {isExpired.value && (
        <Dialog title={t('login.again')}>
          <LoginForm />
        </Dialog>
      )}
      {isHelpOpen.value && <ShortcutHelp />}
    </>
  )
}

function Screen() {
  const { screen, id = '', tab, query } = route.value
  const account = accountId.value
  switch (screen) {
    case 'webhooks':
      return <WebhooksScreen key={account} accountId={account} query={query} />
    case 'webhook':
      return (
        <WebhookScreen key={`${account}/${id}`} accountId={account} webhookId={id} tab={tab} query={query} />
      )
    case 'new':
      return <NewWebhookScreen key={account} accountId={account} />
    case 'delivery':
      return <DeliveryScreen key={`${account}/${id}`} accountId={account} deliveryId={id} />
    case 'call':
      return <CallScreen key={`${account}/${id}`} accountId={account} callId={id} />
    case 'live':
      return <LiveScreen key={account} accountId={account} />
    case 'match':
      return <MatchScreen key={account} accountId={account} query={query} />
    case 'operator':
      return <OperatorScreen query={query} />
    case 'unknown':
      return (
        <Page title={t('unknown.title')} name="unknown">
          <p>{t('unknown.text')}</p>
        </Page>
      )
  }
}
