/** The frame of the page: header, the current screen, the login and the messages. */
import { Button, LinkButton } from './components/button.js'
import { Dialog } from './components/dialog.js'
import { Header } from './components/header.js'
import { Icon, IconSprite } from './components/icon.js'
import { lazy } from './components/lazy.js'
import { Page } from './components/page.js'
import { None } from './components/panel.js'
import { WebhooksScreen } from './screens/webhooks.js'
import { liveSummary, notice } from './state/announce.js'
import { isHelpOpen } from './state/keyboard.js'
import { route } from './state/router.js'
import { accountId } from './state/scope.js'
import { isExpired, session } from './state/session.js'
import { t } from './state/translate.js'
import { giveUp, goOn, leaving } from './state/unsaved.js'
import { formatRoute } from './text/routes.js'

const nothing = () => null
export const SignIn = lazy(async () => (await import('./screens/sign-in.js')).SignIn, nothing)
const LoginForm = lazy(async () => (await import('./screens/sign-in.js')).LoginForm, nothing)
const ShortcutHelp = lazy(async () => (await import('./components/shortcut-help.js')).ShortcutHelp, nothing)
const CallScreen = lazy(async () => (await import('./screens/call.js')).CallScreen)
const DeliveryScreen = lazy(async () => (await import('./screens/delivery.js')).DeliveryScreen)
const LiveScreen = lazy(async () => (await import('./screens/live.js')).LiveScreen)
const MatchScreen = lazy(async () => (await import('./screens/match.js')).MatchScreen)
const NewWebhookScreen = lazy(async () => (await import('./screens/new-webhook.js')).NewWebhookScreen)
const OperatorScreen = lazy(async () => (await import('./screens/operator.js')).OperatorScreen)
const SearchScreen = lazy(async () => (await import('./screens/search.js')).SearchScreen)
const WebhookScreen = lazy(async () => (await import('./screens/webhook.js')).WebhookScreen)

export function App() {
  return (
    <>
      <IconSprite />
      {session.value ? <Signed /> : <SignIn />}
      <div role="status" aria-live="polite">
        {notice.value && (
          <p class={notice.value.isError ? 'notice is-error' : 'notice'}>
            <Icon name={notice.value.isError ? 'fail' : 'ok'} />
            {notice.value.text}
          </p>
        )}
        <span class="hidden">{liveSummary.value}</span>
      </div>
    </>
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
      {leaving.value && <LeaveQuestion />}
    </>
  )
}

/** Asks before what is not saved goes. */
function LeaveQuestion() {
  return (
    <Dialog
      title={t('unsaved.title')}
      onClose={goOn}
      footer={
        <>
          <Button onClick={giveUp}>{t('unsaved.leave')}</Button>
          <Button kind="primary" onClick={goOn}>
            {t('unsaved.stay')}
          </Button>
        </>
      }
    >
      <p>{t('unsaved.text')}</p>
    </Dialog>
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
    case 'search':
      return <SearchScreen key={account} accountId={account} query={query} />
    case 'operator':
      return <OperatorScreen query={query} />
    case 'unknown':
      return (
        <Page title={t('unknown.title')} name="unknown">
          <div class="panel">
            <None icon="find" title={t('unknown.text')}>
              <LinkButton href={formatRoute({ screen: 'webhooks', accountId: account })}>
                {t('unknown.back')}
              </LinkButton>
            </None>
          </div>
        </Page>
      )
  }
}
