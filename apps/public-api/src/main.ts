import { domainName } from '@waypost/domain';
console.log(domainName);
