import inbox from './inbox.json';
import manage from './manage.json';
import policy from './policy.json';
import problems from './problems.json';
import question from './question.json';
import session from './session.json';
import shell from './shell.json';
import webhooks from './webhooks.json';

export default { ...shell, ...inbox, ...question, ...session, ...policy, ...manage, ...webhooks, ...problems };
