export const domainName: string = 'x';
